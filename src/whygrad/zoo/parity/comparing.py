"""Differences, variable by variable, and the search for the mistake that explains them."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygrad.zoo.parity.case import Arrays, Key, Outcome
from whygrad.zoo.parity.mistakes import IN_GRADIENTS, IN_MOVING, Mistake
from whygrad.zoo.parity.setup import Setup

TOLERANCE = 5e-5
MOVING_TOLERANCE = 1e-4  # of what one update changes: an unbiased variance of 5000 numbers is twice that
EXPLAINED = 1e-3  # a mistake that leaves less than this is the one; the faintest makes 2e-2
NOTHING = 1e-4  # of the largest gradient of all
SECONDS = 20.0  # for pairs of mistakes


@dataclass(frozen=True)
class Difference:
    """One variable in one mode."""

    mode: str
    key: Key
    what: str  # gradient, moving, loss
    largest: float
    relative: float
    equal: bool


def differences(
    mode: str, reference: Outcome, other: Outcome, start: Arrays, tolerance: float
) -> list[Difference]:
    """Loss, gradients, moving statistics."""
    off = abs(reference.loss - other.loss)
    relative = _relative(off, abs(reference.loss))
    rows = [Difference(mode, ("", "loss"), "loss", off, relative, relative <= tolerance)]
    most = max((float(np.abs(g).max(initial=0)) for g in reference.gradients.values()), default=0.0)
    for key, a, b in _common(reference.gradients, other.gradients):
        # Zero but for rounding, such as the bias before a batch normalisation: measured against the others.
        nothing = float(np.abs(a).max(initial=0)) < NOTHING * most
        rows.append(_row(mode, key, "gradient", a, b, tolerance, most / 10 if nothing else 0.0))
    for key, a, b in _common(reference.moving, other.moving):
        row = _row(mode, key, "moving", a - start[key], b - start[key], MOVING_TOLERANCE)
        # Statistics that hardly move any more: their change is as small as a float's last digits.
        rounding = row.largest <= 5e-7 * float(np.abs(a).max(initial=0))
        rows.append(replace(row, equal=row.equal or rounding))
    return rows


def _common(reference: Arrays, other: Arrays) -> Iterator[tuple[Key, np.ndarray, np.ndarray]]:
    for key, array in reference.items():
        yield key, array, other[key] if key in other else np.full_like(array, np.nan)


def _row(
    mode: str, key: Key, what: str, a: np.ndarray, b: np.ndarray, tolerance: float, floor: float = 0.0
) -> Difference:
    off = float(np.abs(a - b).max(initial=0))
    relative = _relative(off, max(float(np.abs(a).max(initial=0)), floor))
    return Difference(mode, key, what, off, relative, relative <= tolerance)


def _relative(off: float, size: float) -> float:
    if math.isnan(off):
        return math.inf
    return off / size if size else (0.0 if off == 0 else math.inf)


Run = Callable[[Setup, Sequence[str]], Mapping[str, Outcome]]


@dataclass(frozen=True)
class Explanation:
    """The mistakes that, put into the reference, give what the other side gives; and what is left."""

    mistakes: tuple[Mistake, ...]
    left: float


def explain(theirs: Mapping[str, Outcome], start: Arrays, run: Run, in_gradients: bool) -> Explanation | None:
    """Try the known mistakes one by one, then in pairs; those in gradients first, then the others."""
    modes = list(theirs)

    def left(setup: Setup, moving: bool) -> float:
        return distance(run(setup, modes), theirs, start, moving)

    chosen: tuple[Mistake, ...] = ()
    setup, rest = Setup(), 0.0
    if in_gradients:
        found = _search(IN_GRADIENTS, lambda s: left(s, False))
        if found is None:
            return None
        setup, chosen, rest = found
    if left(setup, True) > MOVING_TOLERANCE:
        found = _search(IN_MOVING, lambda s: left(s, True), setup)
        if found is not None:
            _, more, rest = found
            chosen += more
    return Explanation(chosen, rest) if chosen else None


def _search(
    mistakes: Sequence[Mistake], left: Callable[[Setup], float], start: Setup | None = None
) -> tuple[Setup, tuple[Mistake, ...], float] | None:
    start, stop = start or Setup(), time.monotonic() + SECONDS
    best: tuple[Setup, tuple[Mistake, ...], float] | None = None
    for count in (1, 2):
        for group in itertools.combinations(mistakes, count):
            setup = start
            for mistake in group:
                if not mistake.fits(setup):
                    break
                setup = mistake.apply(setup)
            else:
                rest = left(setup)
                if rest < EXPLAINED and (best is None or rest < best[2]):
                    best = (setup, group, rest)
            if count > 1 and (best or time.monotonic() > stop):
                return best
        if best:
            return best
    return best


def distance(
    ours: Mapping[str, Outcome], theirs: Mapping[str, Outcome], start: Arrays, moving: bool
) -> float:
    """The largest relative difference; of gradients and losses, or of moving statistics."""
    worst = 0.0
    for mode, other in theirs.items():
        for row in differences(mode, ours[mode], other, start, TOLERANCE):
            if (row.what == "moving") == moving and not (moving and row.equal):
                worst = max(worst, row.relative)
    return worst
