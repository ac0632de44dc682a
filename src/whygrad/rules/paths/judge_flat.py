"""Gradients that are there and exactly zero, because an operation on the way is flat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.situation import Situation
from whygrad.model import Parameter
from whygrad.rules.cause import Cause
from whygrad.rules.paths.judge_absent import cut_cause, together


def stepwise(situation: Situation) -> Iterator[Cause]:
    """``torch.round`` and its like between a parameter and the loss: zeros, silently."""
    for optimizer in situation.evidence.optimizers.values():
        updates = situation.updates(optimizer)
        if not updates:
            continue
        zero = frozenset.intersection(*(u.zero | u.absent for u in updates))
        zero -= situation.evidence.always_absent.get(optimizer.key, frozenset())
        groups: dict[object, list[tuple[Parameter, Cause]]] = {}
        for parameter in situation.parameters(zero):
            for backward in updates[-1].backwards:
                path = situation.reach(backward).path(parameter.key)
                if path is None or path.living or path.through_data:
                    continue
                if parameter.key not in backward.reached:
                    continue
                cause = cut_cause(situation, optimizer, parameter, path, backward)
                cause = replace(cause, first_update=updates[0].number, updates=optimizer.steps)
                groups.setdefault((cause.rule, cause.site), []).append((parameter, cause))
                break
        for members in groups.values():
            yield together(members)
