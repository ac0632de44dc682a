"""Gradients that were asked for and did not come, where no optimizer ever gets them: printed, filtered."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Backward, Optimizer, Site
from whygrad.rules.cause import Cause
from whygrad.rules.paths.judge_absent import explain


def unanswered(situation: Situation) -> Iterator[Cause]:
    """Why all gradients of a call are missing, though nothing fails and nobody applies them."""
    if situation.cut_short:
        return  # what fails for want of gradients is explained with the failure
    for calls in _lines(situation):
        keys = frozenset.union(*(b.wanted for b in calls))
        if any(b.reached & b.wanted for b in calls) or not _nobody_trains(situation, keys):
            continue
        meant = _meant_for(situation, keys)
        yield from explain(situation, meant, keys, [(calls[-1], 0)])


def _lines(situation: Situation) -> list[list[Backward]]:
    """The calls that hand gradients over, by line."""
    found: dict[Site | None, list[Backward]] = {}
    for backward in situation.evidence.loose:
        if backward.wanted and not backward.error:
            found.setdefault(backward.site, []).append(backward)
    return list(found.values())


def _nobody_trains(situation: Situation, keys: frozenset[int]) -> bool:
    """No step, no other loss and no hand ever moves one of them, and they are nobody's copy."""
    stepped = {k for o in situation.evidence.optimizers.values() if o.steps for k in o.held}
    reached = {k for b in situation.backwards for k in b.reached}
    members = situation.parameters(keys)
    fixed = any(p.written or p.trained or p.loaded or situation.is_copy(p.key) for p in members)
    return bool(members) and not keys & (stepped | reached) and not fixed


def _meant_for(situation: Situation, keys: frozenset[int]) -> Optimizer:
    """The optimizer that would have got them, or one that nobody has made."""
    idle = [
        o for o in situation.evidence.optimizers.values() if not o.steps and (o.held & keys or not o.held)
    ]
    return idle[0] if idle else Optimizer(0, "", "", None, keys)
