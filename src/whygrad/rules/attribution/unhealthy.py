"""Everything about gradients that arrive and are right, while training suffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from whygrad.rules.attribution.broken_numbers import broken_numbers
from whygrad.rules.attribution.distributed import unused_in_ddp
from whygrad.rules.attribution.magnitudes import exploding, vanishing
from whygrad.rules.attribution.motion import oscillating, stalled
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.attribution.zeros import zeros
from whygrad.rules.cause import Cause

_QUESTIONS = (unused_in_ddp, broken_numbers, zeros, vanishing, exploding, stalled, oscillating)


def unhealthy(situation: Situation, found: Iterable[Cause]) -> Iterator[Cause]:
    """What no other cause explains: symptoms of a fault that was found are not reported beside it."""
    explained = {p.key for cause in found for p in cause.subjects}
    for question in _QUESTIONS:
        for cause in question(situation):
            left = tuple(p for p in cause.subjects if p.key not in explained)
            if left:
                explained |= {p.key for p in left}
                yield replace(cause, subjects=left)
