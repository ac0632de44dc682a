"""Figures of a training: how large values, gradients and steps were. Plain numbers, no tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite


@dataclass(frozen=True, slots=True)
class Values:
    """What was in a tensor: its extremes, and how near to zero it comes."""

    least: float
    most: float
    nearest: float = 0.0  # the smallest magnitude

    @property
    def finite(self) -> bool:
        """Neither NaN nor Inf in it."""
        return isfinite(self.least) and isfinite(self.most)

    @property
    def all_zero(self) -> bool:
        """Nothing but zeros."""
        return self.least == self.most == 0.0


@dataclass(frozen=True, slots=True)
class Moved:
    """What one step did to a parameter: how far it went, and how large the parameter was."""

    change: float
    weight: float


@dataclass(frozen=True, slots=True)
class Print:
    """A parameter before a step, in two numbers that are the same in all ranks which train one model."""

    weights: float  # norm
    gradient: float  # norm, as the step uses it
    before: float | None = None  # a sum of its elements, each with a weight of its own, after ``backward``
    after: float | None = None  # the same of the gradient that the step uses


@dataclass(frozen=True, slots=True)
class Look:
    """The figures of one update: of a recorded one, or of one that a compiled function made."""

    number: int
    largest: Mapping[int, float]  # element of each gradient; NaN where there was one
    moved: Mapping[int, Moved] = field(default_factory=dict)  # what the step did, where it was measured
    turned: float | None = None  # cosine between these gradients and those of the update before
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class Pulse:
    """The largest element of every gradient in one update of an optimizer; NaN where there was one."""

    number: int
    largest: Mapping[int, float]

    @property
    def top(self) -> float:
        """The largest element of all; NaN if any gradient has one."""
        values = self.largest.values()
        return max(values, default=0.0) if all(v == v for v in values) else float("nan")
