"""Everything about gradients that arrive and are not the ones that the algorithm wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whygrad.rules.attribution.clears import cleared_too_early, never_cleared, polluted
from whygrad.rules.attribution.clips import clips
from whygrad.rules.attribution.masks import masks
from whygrad.rules.attribution.policies import advantages, cancelled
from whygrad.rules.attribution.shapes import broadcast
from whygrad.rules.attribution.signs import signs
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.attribution.targets import aliases, in_optimizer, leaks, never_synced, reversed_syncs
from whygrad.rules.attribution.vanished import vanished
from whygrad.rules.cause import Cause

QUESTIONS: tuple[Callable[[Situation], Iterator[Cause]], ...] = (
    broadcast,
    vanished,
    clips,
    cleared_too_early,
    never_cleared,
    polluted,
    leaks,
    aliases,
    in_optimizer,
    never_synced,
    reversed_syncs,
    advantages,
    cancelled,
    masks,
    signs,
)


def wrong(situation: Situation) -> list[Cause]:
    """All of them."""
    found = [cause for question in QUESTIONS for cause in question(situation)]
    return [cause for cause in found if not _follows(cause, found)]


def _follows(cause: Cause, found: list[Cause]) -> bool:
    """A target that is differentiated only because it is the online network, or in its list, under a tape."""
    if cause.rule != "target-leak":
        return False
    keys = {p.key for p in cause.subjects}
    roots = [c for c in found if c.rule in ("target-alias", "target-in-optimizer")]
    return any(keys <= {p.key for p in root.subjects} for root in roots)
