"""What the native kernel does, with numpy: the same sums in the same order, so the same bits."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from whygrad.summaries import wire

_LANES, _BLOCK, _STRETCHES = 8, 4096, 16
_TYPES = (np.dtype("<f2"), np.dtype("<u2"), np.dtype("<f4"), np.dtype("<f8"))
_FIGURES = 7
_BINS = 512


def measure(tensors: list[Any], counts: Any, totals: Any, kinds: bytes, out: Any, bins: Any) -> None:
    """Mean, std, min, max, norm, share of zeros and number of values that are not finite, of every tensor."""
    rows = np.frombuffer(out, dtype=np.float64)
    table = np.frombuffer(bins, dtype=np.uint32)
    for i, tensor in enumerate(tensors):
        row = rows[i * _FIGURES : (i + 1) * _FIGURES]
        here = table[i * _BINS : (i + 1) * _BINS]
        here[:] = 0
        if tensor is None and counts[i]:
            row[:] = math.nan
            continue
        raw = _array(tensor, counts[i], kinds[i])
        with np.errstate(all="ignore"):
            row[:] = _figures(raw, kinds[i], totals[i])
        if len(here):
            _exponents(raw, kinds[i], here)
            here[0] += totals[i] - counts[i]


def keep(tensors: list[Any], counts: Any, kinds: bytes, most: int, store: Any) -> None:
    """Remember the elements whose movement is measured."""
    room = np.frombuffer(store, dtype=np.uint8)
    for i, tensor in enumerate(tensors):
        if tensor is not None:
            kept = _sample(_array(tensor, counts[i], kinds[i]), most).view(np.uint8)
            room[i * most * 8 : i * most * 8 + len(kept)] = kept


def moved(tensors: list[Any], counts: Any, kinds: bytes, most: int, store: Any, out: Any) -> None:
    """How far each tensor has moved since ``keep``, next to its size."""
    room, result = np.frombuffer(store, dtype=np.uint8), np.frombuffer(out, dtype=np.float64)
    for i, tensor in enumerate(tensors):
        if tensor is None:
            result[i] = math.nan
            continue
        now = _sample(_array(tensor, counts[i], kinds[i]), most)
        then = room[i * most * 8 : i * most * 8 + now.nbytes].view(now.dtype)
        x, y = _wide(now, kinds[i]).astype(np.float64), _wide(then, kinds[i]).astype(np.float64)
        with np.errstate(all="ignore"):
            far, size = float(((x - y) ** 2).sum()), float((y**2).sum()) or float((x**2).sum())
        result[i] = math.sqrt(far / size) if size > 0 else far


def fold(values: Any, low: Any, high: Any, total: Any, seen: Any) -> None:
    """Take a row of numbers into the extremes and sums of its bucket."""
    value = np.frombuffer(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        small = value.astype(np.float32)
    there = ~np.isnan(small)
    times = np.frombuffer(seen, dtype=np.uint32)
    for bucket, better in ((low, np.less), (high, np.greater)):
        extreme = np.frombuffer(bucket, dtype=np.float32)
        take = there & ((times == 0) | better(small, extreme))
        extreme[take] = small[take]
    np.frombuffer(total, dtype=np.float64)[there] += value[there]
    times[there] += 1


def join(low: Any, high: Any, total: Any, seen: Any, width: int) -> None:
    """Neighbouring buckets become one, in the first half of the room."""
    codes = (np.float32, np.float32, np.float64, np.uint32)
    shapes = [
        np.frombuffer(c, dtype=t).reshape(-1, width)
        for c, t in zip((low, high, total, seen), codes, strict=True)
    ]
    lows, highs, totals, times = shapes
    n, m = times[::2], times[1::2]
    lows[: len(n)] = np.where((m == 0) | ((n > 0) & (lows[::2] < lows[1::2])), lows[::2], lows[1::2])
    highs[: len(n)] = np.where((m == 0) | ((n > 0) & (highs[::2] > highs[1::2])), highs[::2], highs[1::2])
    totals[: len(n)] = totals[::2] + totals[1::2]
    times[: len(n)] = n + m
    for shape in shapes:
        shape[len(n) :] = 0


def record(template: bytes, places: Any, values: Any, wall: float, step: int) -> bytes:
    """The bytes of an event: a template with its numbers filled in; place -1 means: not in this one."""
    result = bytearray(template)
    for place, value in zip(places, values, strict=False):
        if place >= 0:
            result[place : place + 4] = _float(value)
    return wire.sealed(result, wall, step)


def histograms(tags: list[bytes], rows: Any, bins: Any, wall: float, step: int) -> bytes:
    """One event with the histograms of all tensors that were there."""
    row, table = np.frombuffer(rows, dtype=np.float64), np.frombuffer(bins, dtype=np.uint32)
    found = [
        wire.histogram(
            tag, row[i * _FIGURES : (i + 1) * _FIGURES].tolist(), table[i * _BINS : (i + 1) * _BINS].tolist()
        )
        for i, tag in enumerate(tags)
    ]
    return wire.sealed(wire.event(b"".join(found)), wall, step)


crc32c = wire.crc32c


def _array(tensor: Any, count: int, kind: int) -> Any:
    """The elements, as they are in memory."""
    dtype = _TYPES[kind]
    if tensor is None or not count:
        return np.empty(0, dtype)
    if isinstance(tensor, int):
        tensor = (ctypes.c_char * (count * dtype.itemsize)).from_address(tensor)
    return np.frombuffer(tensor, dtype=dtype, count=count)


def _wide(raw: Any, kind: int) -> Any:
    """Short floats as long ones; the others as they are."""
    if kind == 1:
        return (raw.astype(np.uint32) << 16).view(np.float32)
    return raw.astype(np.float32) if kind == 0 else raw


def _blocks(raw: Any, kind: int) -> Iterator[Any]:
    for at in range(0, len(raw), _BLOCK):
        yield _wide(raw[at : at + _BLOCK], kind)


def _lanes(values: Any) -> float:
    """The sum of a block: eight lanes, then the lanes."""
    padded = np.zeros(-(-len(values) // _LANES) * _LANES)
    padded[: len(values)] = values
    s = np.add.reduce(padded.reshape(-1, _LANES), axis=0)
    return float(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])))


def _moments(raw: Any, kind: int, a: float, b: float, shift: float) -> tuple[float, float]:
    total = squares = 0.0
    for block in _blocks(raw, kind):
        wide = block.astype(np.float64)
        d = np.where(np.isfinite(wide), wide * a * b - shift, 0.0)
        total += _lanes(d)
        squares += _lanes(d * d)
    return total, squares


def _figures(raw: Any, kind: int, total: int) -> Sequence[float]:
    low, high, zeros, odd = math.inf, -math.inf, 0, 0
    for block in _blocks(raw, kind):
        finite = np.isfinite(block)
        good = block if finite.all() else block[finite]
        odd += len(block) - len(good)
        zeros += int((good == 0).sum())
        if len(good):
            low, high = min(low, float(good.min())), max(high, float(good.max()))
    unstored, many = total - len(raw), total - odd
    if unstored > 0:
        low, high = min(low, 0.0), max(high, 0.0)
    share = (zeros + unstored) / total if total else 0.0
    if not many:
        nothing = math.nan
        return nothing, nothing, nothing, nothing, nothing if total else 0.0, share, odd
    a = b = 1.0
    s, q = _moments(raw, kind, a, b, 0.0)
    largest = max(abs(low), abs(high))
    if largest > 0 and (not math.isfinite(q) or not math.isfinite(s) or q < 1e-280):
        power = 1 - math.frexp(largest)[1]
        half = int(power / 2)
        a, b = math.ldexp(1, half), math.ldexp(1, power - half)
        s, q = _moments(raw, kind, a, b, 0.0)
    mean = s / many
    variance = q / many - mean * mean
    if variance < 1e-4 * mean * mean:
        rest, spread = _moments(raw, kind, a, b, mean)
        rest += unstored * -mean
        spread += unstored * (mean * mean)
        variance = spread / many - (rest / many) * (rest / many)
    return (
        _scaled(mean, a, b),
        _scaled(math.sqrt(max(variance, 0.0)), a, b),
        low,
        high,
        _scaled(math.sqrt(q), a, b),
        share,
        odd,
    )


def _scaled(value: float, a: float, b: float) -> float:
    return float(np.float64(value) / a / b)


def _exponents(raw: Any, kind: int, here: Any) -> None:
    """Counted by sign and exponent; float64 in the bins of float32."""
    for block in _blocks(raw, kind):
        if kind != 3:
            number = block.view(np.uint32) >> 23
        else:
            bits = block.view(np.uint64)
            exponent = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
            shown = np.where(exponent == 0x7FF, 255, np.clip(exponent - 1023 + 127, 0, 254))
            number = (bits >> np.uint64(63)).astype(np.int64) * 256 + shown
        here += np.bincount(number, minlength=_BINS).astype(np.uint32)


def _sample(raw: Any, most: int) -> Any:
    """The elements of a large tensor whose movement is measured: sixteen stretches, evenly spread."""
    if len(raw) <= most:
        return raw
    length = most // _STRETCHES
    apart = (len(raw) - length) // (_STRETCHES - 1)
    return np.concatenate([raw[i * apart : i * apart + length] for i in range(_STRETCHES)])


def _float(value: float) -> bytes:
    with np.errstate(over="ignore"):
        return struct.pack("<f", float(np.float32(value)))
