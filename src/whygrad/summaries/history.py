"""What is remembered of the numbers of all updates, in a memory that does not grow.

Updates are gathered in buckets. When all buckets are in use, neighbours are joined and every bucket spans
twice as many updates. Extremes survive: a spike of one update in a hundred thousand is still there.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from whygrad import strangers
from whygrad.model import Series

_MEMORY = 32 << 20
_FILE = 256 << 20  # bytes: several optimizers, and the numbers of wide networks
_FORMAT = "whygrad history 1"
_BYTES = 4 + 4 + 8 + 4  # of a number in a bucket: low, high, total, seen


class History:
    """The numbers of one stream of updates."""

    def __init__(self, names: Sequence[tuple[str, str, str]], kernel: Any, memory: int = _MEMORY) -> None:
        self._names = tuple(names)
        self._kernel = kernel
        self._width = len(names)
        many = max(32, min(512, memory // max(1, _BYTES * self._width)))
        self._room = many - many % 2
        cells = self._room * self._width
        self._low, self._high = array("f", bytes(4 * cells)), array("f", bytes(4 * cells))
        self._total, self._seen = array("d", bytes(8 * cells)), array("I", bytes(4 * cells))
        self._columns = (self._low, self._high, self._total, self._seen)
        self._steps = [0] * self._room
        self._stride = 1  # updates in a full bucket
        self._used = 0
        self._inside = 0  # updates in the last bucket
        self._rows: tuple[memoryview, ...] = ()

    def add(self, step: int, values: array[float]) -> None:
        """One more update."""
        if self._inside == self._stride or not self._used:
            self._next_bucket()
        self._kernel.fold(values, *self._rows)
        self._steps[self._used - 1] = step
        self._inside += 1

    def series(self) -> Iterator[Series]:
        """Everything, one quantity after the other."""
        steps = tuple(self._steps[: self._used])
        low, high, total, seen = self._low, self._high, self._total, self._seen
        for i, (optimizer, variable, quantity) in enumerate(self._names):
            cells = slice(i, self._used * self._width, self._width)
            times = seen[cells]
            mean = array("f", (t / n if n else math.nan for t, n in zip(total[cells], times, strict=True)))
            least, most = _where(low[cells], times), _where(high[cells], times)
            yield Series(optimizer, variable, quantity, steps, least, most, mean)

    def copy(self) -> History:
        """As it is now; a copy of memory and nothing more. It is only read."""
        copy = object.__new__(History)
        cells = self._used * self._width
        copy._names, copy._width, copy._used = self._names, self._width, self._used
        copy._steps = self._steps[: self._used]
        copy._low, copy._high = self._low[:cells], self._high[:cells]
        copy._total, copy._seen = self._total[:cells], self._seen[:cells]
        return copy

    def _next_bucket(self) -> None:
        if self._used == self._room:
            self._kernel.join(*self._columns, self._width)
            self._used //= 2
            self._steps[: self._used] = self._steps[1 : 2 * self._used : 2]
            self._stride *= 2
        start, end = self._used * self._width, (self._used + 1) * self._width
        self._rows = tuple(memoryview(column)[start:end] for column in self._columns)
        self._used += 1
        self._inside = 0


def _where(values: array[float], times: array[int]) -> array[float]:
    return array("f", (v if n else math.nan for v, n in zip(values, times, strict=True)))


def packed(series: Sequence[Series]) -> bytes:
    """A line of JSON that says what there is, then the numbers: lows, highs and means of each in turn."""
    steps = list(dict.fromkeys(s.steps for s in series))
    names = [[s.optimizer, s.variable, s.quantity, steps.index(s.steps)] for s in series]
    head = json.dumps({"format": _FORMAT, "steps": steps, "series": names}, separators=(",", ":"))
    columns = (column for one in series for column in (one.low, one.high, one.mean))
    return b"".join((head.encode(), b"\n", *(column.tobytes() for column in columns)))


def load(path: Path) -> tuple[Series, ...]:
    """What ``packed`` has made."""
    with strangers.opened(path, _FILE) as file:
        head = strangers.parsed(file.readline(strangers.REPORT))
        if not isinstance(head, dict) or head.get("format") != _FORMAT:
            raise ValueError(f"{path} is not a history that this version of whygrad can read")
        steps = [_steps(told) for told in head["steps"]]
        return tuple([_read(file, steps, *told) for told in head["series"]])


def _steps(told: Any) -> tuple[int, ...]:
    if any(type(step) is not int or abs(step) >= 2**63 for step in told):
        raise ValueError("a history counts its updates")
    return tuple(told)


def _read(
    file: BinaryIO, steps: list[tuple[int, ...]], optimizer: Any, variable: Any, quantity: Any, which: int
) -> Series:
    """One series; what was cut short is damaged."""
    if not all(type(name) is str for name in (optimizer, variable, quantity)):
        raise ValueError("a history has names")
    columns = [array("f", file.read(4 * len(steps[which]))) for _ in range(3)]
    if any(len(column) != len(steps[which]) for column in columns):
        raise ValueError("a history was cut short")
    return Series(optimizer, variable, quantity, steps[which], *columns)
