"""The summaries of one optimizer's updates: from tensors to numbers, to a sink and to the history."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from whygrad.summaries import kernel
from whygrad.summaries.history import History
from whygrad.summaries.kernel import BINS, FIGURES, SAMPLE

_F = len(FIGURES)
_NORM, _ODD = FIGURES.index("norm"), FIGURES.index("nonfinite")
#: Of each variable beside its figures, and of the whole optimizer, in this order.
_MORE = ("update/ratio", "gradients/absent", "gradients/norm_before_clip", "gradients/clip_share")
_WHOLE = (
    "loss",
    "learning_rate",
    "gradient_norm",
    "gradient_norm_before_clip",
    "clip_share",
    "absent_gradients",
    "nonfinite",
)


_USUAL = 1e-3  # of its size, in one update: what most people see when all is well
_MANY = 64  # variables from which on fewer elements of each are remembered


class Layout(Protocol):
    """A record whose names are laid out once; numbers are filled in."""

    def write(self, step: int, values: array[float]) -> None:
        """One more record."""


class Pictures(Protocol):
    """A record with histograms."""

    def write(self, step: int, rows: array[float], bins: array[int]) -> None:
        """One more record."""


class Sink(Protocol):
    """Where summaries go."""

    def layout(self, tags: Sequence[str]) -> Layout:
        """A record with a number for each of these names; an empty name stands for a number to leave out."""

    def histograms(self, tags: Sequence[str]) -> Pictures:
        """A record with a histogram for each of these names."""


@dataclass(slots=True)
class Tensors:
    """Tensors as the kernel takes them: addresses, buffers or None, how many elements, of which kind.

    ``totals`` differ from ``counts`` for sparse tensors. ``owners`` keeps alive what was copied.
    """

    items: list[Any]
    counts: array[int]
    kinds: bytes
    totals: array[int]
    owners: list[Any]
    form: Any = None  # whatever tells a backend that other tensors are just like these


class Stream:
    """One optimizer and the variables that it trains."""

    def __init__(
        self, optimizer: str, variables: Sequence[str], functions: Any, sink: Sink, histograms: bool
    ) -> None:
        self.optimizer, self.variables = optimizer, tuple(variables)
        self.written = 0
        self.step = 0  # of the last summary
        self._many = many = len(variables)
        self._kernel, self._sink = functions, sink
        self._names = tuple(_names(optimizer, self.variables))
        self._tags = [_tag(*name) for name in self._names]
        shown = [_tag(optimizer, v, what) for what in ("gradients", "variable") for v in variables]
        self._pictures = sink.histograms(shown) if histograms else None
        self._values = array("d", bytes(8 * len(self._names)))
        self._ratio = memoryview(self._values)[2 * _F * many : (2 * _F + 1) * many]
        self._bins = array("I", bytes(4 * 2 * many * BINS)) if histograms else array("I")
        self._most = SAMPLE if many <= _MANY else max(1024, SAMPLE * _MANY // many // 16 * 16)
        self._before = bytearray(0)
        self._layouts: dict[Any, Layout] = {}
        self._absent: tuple[int, ...] = ()  # the variables without a gradient in this update
        self._absent_before: tuple[int, ...] = ()  # and in the one before
        self._clipped_before = True
        self._hidden: tuple[str, ...] = ()  # quantities that nobody knows
        self.history = History(self._names, functions)

    def begins(self, gradients: Tensors, variables: Tensors) -> None:
        """Right before the step: measure everything, and remember where the variables are."""
        self.measure(gradients, variables)
        self._keep(variables)

    def measure(self, gradients: Tensors, variables: Tensors) -> None:
        """One pass over every tensor."""
        self._kernel.measure(
            gradients.items + variables.items,
            gradients.counts + variables.counts,
            gradients.totals + variables.totals,
            gradients.kinds + variables.kinds,
            self._values,
            self._bins,
        )
        self._note_absent(gradients)

    def begins_with(self, variables: Tensors) -> None:
        """Before a compiled step, whose gradients come only afterwards: the variables."""
        half = _F * self._many
        bins = memoryview(self._bins)[self._many * BINS :] if self._bins else self._bins
        self._measure(variables, memoryview(self._values)[half : 2 * half], bins)
        self._keep(variables)

    def goes_on(self, gradients: Tensors) -> None:
        """After a compiled step: its gradients."""
        bins = memoryview(self._bins)[: self._many * BINS] if self._bins else self._bins
        self._measure(gradients, memoryview(self._values)[: _F * self._many], bins)
        self._note_absent(gradients)

    def ends(
        self, step: int, variables: Tensors, loss: float, rate: float, before_clip: Sequence[float] = ()
    ) -> None:
        """Right after the step: how far did the variables go? Then write it down."""
        ratio = self._ratio
        self._kernel.moved(
            variables.items, variables.counts, variables.kinds, self._most, self._before, ratio
        )
        self._write(step, loss, rate, before_clip)

    def write(
        self, step: int, gradients: Tensors, variables: Tensors, rate: float, unknown: bool = False
    ) -> None:
        """A summary of how things are, without an update around it; gradients may not be known at all."""
        self.measure(gradients, variables)
        self._ratio[:] = array("d", [math.nan] * self._many)
        self._hidden = ("update/ratio", *(("gradients/absent", *_WHOLE[2:]) if unknown else ()))
        self._write(step, math.nan, rate, ())

    def worst(self) -> str:
        """The variable of the last update that deserves a look first, in a few words."""
        many, values = self._many, self._values
        odd = values[_ODD : 2 * _F * many : _F]
        for i, count in enumerate(odd):
            if count > 0:
                return f"{self.variables[i % many]}: NaN or Inf"
        if self._absent:
            more = f" and {len(self._absent) - 1} more" if len(self._absent) > 1 else ""
            return f"{self.variables[self._absent[0]]}{more}: no gradient"
        moving = {i: r for i, r in enumerate(self._ratio) if r > 0}
        if not moving:
            return ""
        i = max(moving, key=lambda i: abs(math.log10(moving[i] / _USUAL)))
        return f"{self.variables[i]}: moves by {moving[i]:.0e} of its size"

    def gradient_norms(self) -> array[float]:
        """Of the gradients that were measured last."""
        return self._values[_NORM : _F * self._many : _F]

    @staticmethod
    def norms(gradients: Tensors) -> array[float]:
        """The norms of gradients as they are now, before somebody clips them."""
        rows = array("d", bytes(8 * _F * len(gradients.items)))
        functions = kernel.load()
        functions.measure(
            gradients.items, gradients.counts, gradients.totals, gradients.kinds, rows, array("I")
        )
        return rows[_NORM::_F]

    def _measure(self, tensors: Tensors, rows: Any, bins: Any) -> None:
        self._kernel.measure(tensors.items, tensors.counts, tensors.totals, tensors.kinds, rows, bins)

    def _keep(self, variables: Tensors) -> None:
        if not self._before:
            self._before = bytearray(self._many * self._most * 8)
        self._kernel.keep(variables.items, variables.counts, variables.kinds, self._most, self._before)

    def _note_absent(self, gradients: Tensors) -> None:
        self._absent = tuple([i for i, item in enumerate(gradients.items) if item is None])

    def _write(self, step: int, loss: float, rate: float, before_clip: Sequence[float]) -> None:
        values, whole = self._values, len(self._names) - len(_WHOLE)
        norms = self.gradient_norms()
        norm = math.hypot(*(self._there(norms) if self._absent else norms))
        odd = sum(self._there(values[_ODD : _F * self._many : _F]))
        self._fill_absent()
        before = self._fill_clip(norms, before_clip)
        numbers = (loss, rate, norm, before, _share(before, norm), len(self._absent), odd)
        for i, number in enumerate(numbers, whole):
            values[i] = number
        self._layout(loss == loss, rate == rate, bool(before_clip)).write(step, values)
        if self._pictures is not None:
            self._pictures.write(step, values, self._bins)
        self.history.add(step, values)
        self.written += 1
        self.step = step

    def _there(self, numbers: array[float]) -> Sequence[float]:
        """Those of the variables that have a gradient."""
        return [n for n in numbers if n == n] if self._absent else numbers

    def _fill_absent(self) -> None:
        if self._absent != self._absent_before:
            row = array("d", bytes(8 * self._many))
            for i in self._absent:
                row[i] = 1.0
            start = (2 * _F + 1) * self._many
            self._values[start : start + self._many] = row
            self._absent_before = self._absent

    def _fill_clip(self, norms: array[float], before: Sequence[float]) -> float:
        """Norms before clipping, and what share of them is gone; NaN where nobody has clipped."""
        if not before and not self._clipped_before:
            return math.nan
        many, start = self._many, (2 * _F + 2) * self._many
        self._clipped_before = bool(before)
        given = before or [math.nan] * many
        self._values[start : start + many] = array("d", given)
        self._values[start + many : start + 2 * many] = array("d", map(_share, given, norms))
        return math.hypot(*(n for n in given if n == n)) if before else math.nan

    def _layout(self, loss: bool, rate: bool, clipped: bool) -> Layout:
        """The names of what there is in this update: laid out once for each combination."""
        key = (self._absent, loss, rate, clipped, self._hidden)
        found = self._layouts.get(key)
        if found is None:
            if len(self._layouts) > 16:
                self._layouts.clear()
            found = self._layouts[key] = self._sink.layout(self._wanted(loss, rate, clipped))
        return found

    def _wanted(self, loss: bool, rate: bool, clipped: bool) -> list[str]:
        absent = {self.variables[i] for i in self._absent}
        hidden = {"loss": not loss, "learning_rate": not rate, **dict.fromkeys(self._hidden, True)}
        tags = []
        for (_, variable, quantity), tag in zip(self._names, self._tags, strict=True):
            gone = variable in absent and quantity.startswith("gradients/") and quantity != "gradients/absent"
            clip = "clip" in quantity and not clipped
            tags.append("" if gone or clip or hidden.get(quantity) else tag)
        return tags


def _share(before: float, after: float) -> float:
    """What clipping has taken away: 0 nothing, 1 everything."""
    return max(0.0, 1.0 - after / before) if before > 0 else 0.0 if before == 0 else math.nan


def _names(optimizer: str, variables: Sequence[str]) -> list[tuple[str, str, str]]:
    figures = [
        (optimizer, v, f"{group}/{figure}")
        for group in ("gradients", "variable")
        for v in variables
        for figure in FIGURES
    ]
    more = [(optimizer, v, quantity) for quantity in _MORE for v in variables]
    return [*figures, *more, *((optimizer, "", quantity) for quantity in _WHOLE)]


def _tag(optimizer: str, variable: str, quantity: str) -> str:
    """TensorBoard makes one group of what stands before the first slash."""
    return f"{(variable or optimizer).replace('/', '.')}/{quantity}"
