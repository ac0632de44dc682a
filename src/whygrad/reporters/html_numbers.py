"""The numbers of the charts: thinned until the page is small, their extremes kept, packed."""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whygrad.model import Series

_ROOM = 3_200_000  # bytes before packing: what is left of 3 MB for the page after it
_LEAST = 48  # points that a chart needs
_DIGITS = 0xFFFFF000  # of a float32, eleven bits of its fraction stay: more than a chart shows


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the page needs to know of the series, and the numbers themselves as text."""

    meta: dict[str, Any] | None
    text: str


def packed(series: Sequence[Series]) -> Numbers:
    """All series; each is thinned to as many points as the page has room for."""
    shown = [s for s in series if s.steps]
    if not shown:
        return Numbers(None, "")
    most = _ROOM // (12 * max(sum(not _flat(s) for s in shown), 1))
    thin = [thinned(s, max(most, _LEAST)) for s in shown]
    steps = list(dict.fromkeys(s.steps for s in thin))
    where = {one: n for n, one in enumerate(steps)}
    numbers = array("f")
    entries = [_entry(s, where[s.steps], numbers) for s in thin]
    meta = {
        "variables": list(dict.fromkeys(s.variable for s in thin if s.variable)),
        "optimizers": list(dict.fromkeys(s.optimizer for s in thin if not s.variable)),
        "steps": [list(one) for one in steps],
        "series": entries,
        "clipped": any(s.quantity.endswith("clip_share") and _seen(s) for s in shown),
    }
    return Numbers(meta, base64.b64encode(zlib.compress(_rounded(numbers), 6)).decode())


def thinned(series: Series, most: int) -> Series:
    """Neighbours joined until there are at most so many entries."""
    many = len(series.steps)
    width = -(-many // most)
    if width <= 1:
        return series
    cuts = [(at, min(at + width, many)) for at in range(0, many, width)]
    low = array("f", (_extreme(min, series.low[a:b]) for a, b in cuts))
    high = array("f", (_extreme(max, series.high[a:b]) for a, b in cuts))
    mean = array("f", (_mean(series.mean[a:b]) for a, b in cuts))
    steps = tuple(series.steps[b - 1] for _, b in cuts)
    return Series(series.optimizer, series.variable, series.quantity, steps, low, high, mean)


def _extreme(choose: Any, values: array[float]) -> float:
    known = [v for v in values if v == v]
    return choose(known) if known else float("nan")


def _mean(values: array[float]) -> float:
    known = [v for v in values if v == v]
    return sum(known) / len(known) if known else float("nan")


def _entry(series: Series, where: int, numbers: array[float]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "v": series.variable,
        "o": series.optimizer,
        "q": series.quantity,
        "s": where,
    }
    if _flat(series):
        first = series.mean[0]
        return {**entry, "c": first if first - first == 0 else None}
    entry["at"] = len(numbers)
    columns = [series.low, series.high, series.mean]
    if columns[0].tobytes() == columns[1].tobytes() == columns[2].tobytes():
        entry["one"], columns = True, columns[:1]
    for column in columns:
        numbers.extend(column)
    return entry


def _flat(series: Series) -> bool:
    """The same number all the time, or nothing all the time."""
    first = series.mean[:1].tobytes()
    return all(c.tobytes() == first * len(c) for c in (series.low, series.high, series.mean))


def _seen(series: Series) -> bool:
    return any(v == v for v in series.mean)


def _rounded(numbers: array[float]) -> bytes:
    """The numbers with fewer digits, which are packed much better, in the byte order of the page."""
    words = array("I", numbers.tobytes())
    odd = 0x7F800000  # the exponent of NaN and Inf
    return array("I", (w if w & odd == odd else (w + 0x800) & _DIGITS for w in words)).tobytes()
