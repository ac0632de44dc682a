"""What summaries have shown over a run: numbers per update, thinned out but with their extremes."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity of one variable (or of a whole optimizer, if ``variable`` is empty) over the updates.

    Entry ``i`` stands for the summarized updates after ``steps[i - 1]`` and up to ``steps[i]``; ``low`` and
    ``high`` are their extremes, ``mean`` is their mean, NaN where the quantity was not there. A run that is
    long has wide entries, not more of them.
    """

    optimizer: str
    variable: str
    quantity: str  # gradients/norm, variable/mean, update/ratio, loss, ...
    steps: tuple[int, ...] = ()
    low: array[float] = field(default_factory=lambda: array("f"))
    high: array[float] = field(default_factory=lambda: array("f"))
    mean: array[float] = field(default_factory=lambda: array("f"))


@dataclass(frozen=True, slots=True)
class Watched:
    """That summaries were written: how many updates, when, and where to."""

    updates: int
    schedule: str
    folder: str = ""
    files: tuple[str, ...] = ()
    refused: int = 0  # summaries that were not written because the disk did not keep up
    late: int = 0  # due, and not seen: not the last one of several in one call of a compiled function
    trouble: str = ""  # why there are no more of them
