"""Cuts that do not show: the network still moves, by another term of the same loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.paths import Path, Reach
from whygrad.flow.terms import Term, terms
from whygrad.model import Backward, Confidence, Optimizer, Parameter
from whygrad.rules.attribution.absent import cut_cause
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_MOST_TERMS = 64


def masked(situation: Situation) -> Iterator[Cause]:
    """Terms that train nothing although what should be trained stands behind a cut in them."""
    found: dict[tuple[str, object], list[Cause]] = {}
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if backward.applied & optimizer.held:
                    for cause in _in_backward(situation, optimizer, backward):
                        found.setdefault((cause.rule, cause.site), []).append(cause)
    for causes in found.values():
        yield _merged(causes)


def _merged(causes: list[Cause]) -> Cause:
    subjects: dict[int, Parameter] = {p.key: p for c in causes for p in c.subjects}
    return replace(causes[0], subjects=tuple(subjects.values()), first_update=1, updates=len(causes))


def _in_backward(situation: Situation, optimizer: Optimizer, backward: Backward) -> Iterator[Cause]:
    for term in _distinct(backward):
        reach = Reach(backward.flow, [term.op.id])
        if reach.living() & backward.applied:
            continue
        for key in sorted(reach.parameters.keys() & optimizer.held & backward.applied):
            path = reach.path(key)
            parameter = situation.evidence.parameters.get(key)
            if path is None or parameter is None or path.living or path.through_data:
                continue
            if term.scalar and _is_a_loss(term) or _feeds_another_network(backward, path, optimizer):
                cause = cut_cause(optimizer, parameter, path, backward)
                yield replace(cause, masked=True, confidence=Confidence.LIKELY, loss=term.op.site)


def _is_a_loss(term: Term) -> bool:
    """A number computed by some operation, not a constant that was added for show."""
    return not term.op.fresh and term.op.parameter is None


def _distinct(backward: Backward) -> list[Term]:
    """The terms, those of one line and operation once: a sum over an episode has a thousand."""
    seen: dict[object, Term] = {}
    for root in backward.roots:
        for term in terms(backward.flow, root):
            seen.setdefault((term.op.site, term.op.name, term.scalar), term)
    return list(seen.values())[:_MOST_TERMS] if len(seen) > 1 else []


def _feeds_another_network(backward: Backward, path: Path, optimizer: Optimizer) -> bool:
    """Behind the cut, the value goes into a network that this optimizer does not train."""
    for op in path.ops[path.cuts[0] + 1 :]:
        for i in op.inputs:
            key = backward.flow[i].parameter
            if key is not None and key not in optimizer.held:
                return True
    return False
