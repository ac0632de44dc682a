"""Everything about gradients that arrive and are right, while training suffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from whygrad.flow.situation import Situation
from whygrad.rules.cause import Cause
from whygrad.rules.failing.judge_distributed import unused_in_ddp
from whygrad.rules.figures.judge_magnitudes import exploding, vanishing
from whygrad.rules.figures.judge_motion import faded, oscillating, stalled
from whygrad.rules.figures.judge_non_finite import broken_numbers
from whygrad.rules.figures.judge_zeros import zeros

_QUESTIONS = (unused_in_ddp, broken_numbers, zeros, vanishing, exploding, stalled, faded, oscillating)


def unhealthy(situation: Situation, found: Iterable[Cause]) -> Iterator[Cause]:
    """What no other cause explains: symptoms of a fault that was found are not reported beside it."""
    explained = {p.key for cause in found for p in cause.subjects}
    for question in _QUESTIONS:
        for cause in question(situation):
            left = tuple(p for p in cause.subjects if p.key not in explained)
            if left:
                explained |= {p.key for p in left}
                yield replace(cause, subjects=left)
