"""States of a sequence that are cut off at each step: nothing is learnt about what to remember."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.recurrences import truncated
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Optimizer, Parameter, Severity, Site
from whygrad.rules.cause import Cause
from whygrad.rules.paths.detached import Detached
from whygrad.rules.paths.judge_absent import cut_cause, together


def truncations(situation: Situation) -> Iterator[Cause]:
    """One cause per line that cuts the state, if it does so in every recorded update."""
    for optimizer in situation.evidence.optimizers.values():
        looks = [
            _cut_states(situation, optimizer, backward, update.since)
            for update in situation.updates(optimizer)
            for backward in update.backwards
            if backward.applied & optimizer.held and situation.whole(backward)
        ]
        always = set.intersection(*(set(look) for look in looks)) if looks else set()
        for site in always:
            yield replace(looks[-1][site], first_update=1, updates=optimizer.steps)


def _cut_states(
    situation: Situation, optimizer: Optimizer, backward: Backward, since: int
) -> dict[Site | None, Cause]:
    """The lines that cut the states of this loss, and whose."""
    groups: dict[Site | None, list[tuple[Parameter, Cause]]] = {}
    for one in truncated(backward.flow, situation.living(backward), since):
        parameter = situation.evidence.parameters.get(one.parameter)
        if parameter is None or one.parameter not in optimizer.held:
            continue
        cause = cut_cause(situation, optimizer, parameter, one.path, backward)
        if isinstance(cause, Detached):
            unsure = {"severity": Severity.WARNING, "confidence": Confidence.LIKELY}
            cause = replace(cause, masked=True, stepwise=True, **unsure)  # type: ignore[arg-type]
            groups.setdefault(cause.site, []).append((parameter, cause))
    return {site: together(members) for site, members in groups.items()}
