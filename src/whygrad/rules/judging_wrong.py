"""Everything about gradients that arrive and are not the ones that the algorithm wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whygrad.flow.situation import Situation
from whygrad.rules import clearing, clipping, losses, stepping, targets
from whygrad.rules.cause import Cause
from whygrad.rules.table import RULES
from whygrad.rules.targets.target_alias import TargetAlias
from whygrad.rules.targets.target_in_optimizer import TargetInOptimizer
from whygrad.rules.targets.target_leak import TargetLeak

QUESTIONS: tuple[Callable[[Situation], Iterator[Cause]], ...] = (
    *losses.QUESTIONS,
    *clipping.QUESTIONS,
    *clearing.QUESTIONS,
    *targets.QUESTIONS,
    *stepping.QUESTIONS,
    *(rule.asks for rule in RULES.values() if rule.asks is not None),
)


def wrong(situation: Situation) -> list[Cause]:
    """All of them."""
    found = [cause for question in QUESTIONS for cause in question(situation)]
    return [cause for cause in found if not _follows(cause, found)]


def _follows(cause: Cause, found: list[Cause]) -> bool:
    """A target that is differentiated only because it is the online network, or in its list, under a tape."""
    if not isinstance(cause, TargetLeak):
        return False
    keys = {p.key for p in cause.subjects}
    roots = [c for c in found if isinstance(c, TargetAlias | TargetInOptimizer)]
    return any(keys <= {p.key for p in root.subjects} for root in roots)
