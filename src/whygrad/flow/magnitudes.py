"""How small and how large gradients may get: said once, for what was seen and for what was logged."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

NOTHING = 1e-8  # the epsilon of Adam: what is smaller moves no weight, with any optimizer
FAR_BELOW = 1e-5  # of the largest gradient in the same network
GROWTH = 1e4  # above what it was at first: learning itself makes gradients grow by hundreds
LARGE = 1e3  # one element of a gradient; whatever the loss, no step survives that
SPIKE = 1e6  # above its own median


def ends(numbers: Sequence[float], least: int = 1) -> tuple[float, float]:
    """The medians of the first and of the last quarter: single points do not decide."""
    quarter = max(least, len(numbers) // 4)
    return median(numbers[:quarter]), median(numbers[-quarter:])


def has_grown(early: float, late: float) -> bool:
    """Far above what it was; from nothing, anything is growth, and none is meant."""
    return late > GROWTH * early > 0


def has_fallen(early: float, late: float) -> bool:
    """Far below what it was."""
    return late * GROWTH < early


def has_exploded(early: float, late: float) -> bool:
    """A gradient that has grown without bound."""
    return late > LARGE and has_grown(early, late)


def spikes(usual: float, peak: float) -> bool:
    """One gradient that is far above all the others."""
    return peak > LARGE and peak > SPIKE * usual > 0


def vanishes(size: float, top: float) -> bool:
    """A gradient, not zero, that is too small to move anything, beside one that is not."""
    return 0 < size < min(NOTHING, FAR_BELOW * top)
