"""Reads the event files of any tool: records, and the few fields of protocol buffers that hold numbers."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from whygrad import strangers

_RECORD = 256 << 20  # bytes: a longer one is passed over
_DIGITS = 10  # bytes of a number: 64 bits, seven in each
_FLOATS = {1: "f", 2: "d"}  # types of tensors: float32, float64
_HALF = {19: "e"}


@dataclass(slots=True)
class Curve:
    """One series of a file: numbers, or of histograms the norm that they tell."""

    tag: str
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    histogram: bool = False


def curves(folder: Path) -> dict[str, dict[str, Curve]]:
    """Of every run below a folder (a folder with event files in it): its series by their tags."""
    found: dict[str, dict[str, Curve]] = {}
    for file in sorted(folder.rglob("*tfevents*")):
        if file.is_file():
            run = strangers.line(file.parent.relative_to(folder))
            read(file, found.setdefault(run, {}), folder)
    return found


def read(file: Path, into: dict[str, Curve], within: Path | None = None) -> None:
    """Add what is in one file. A record that is cut short ends it, as a killed process leaves it."""
    for payload in _records(file, within):
        step, summaries = 0, []
        for number, value in fields(payload):
            if number == 2 and isinstance(value, int):
                step = value
            elif number == 5 and isinstance(value, bytes):
                summaries.append(value)
        for summary in summaries:
            for number, value in fields(summary):
                if number == 1 and isinstance(value, bytes):
                    _add(value, step, into)


def _add(content: bytes, step: int, into: dict[str, Curve]) -> None:
    parts = dict(fields(content))
    tag = parts.get(1)
    if not isinstance(tag, bytes):
        return
    name = strangers.line(tag.decode("utf-8", "replace"))
    number, picture = math.nan, False
    if isinstance(simple := parts.get(2), bytes):
        if len(simple) != 4:
            return
        (number,) = struct.unpack("<f", simple)
    elif isinstance(parts.get(5), bytes):
        number, picture = _norm_of_histogram(parts[5]), True  # type: ignore[arg-type]
    elif isinstance(parts.get(8), bytes):
        shape, numbers = _tensor(parts[8])  # type: ignore[arg-type]
        if len(numbers) == 1 and not shape:
            number = numbers[0]
        elif len(shape) == 2 and shape[1] == 3:
            number, picture = _norm_of_buckets(numbers), True
        else:
            return
    else:
        return
    curve = into.setdefault(name, Curve(name, histogram=picture))
    curve.steps.append(step)
    curve.values.append(number)


def _norm_of_histogram(content: bytes) -> float:
    for number, value in fields(content):
        if number == 5 and isinstance(value, bytes) and len(value) == 8:
            (squares,) = struct.unpack("<d", value)
            return math.sqrt(squares) if squares >= 0 else math.nan
    return 0.0  # a field that is zero is left out


def _norm_of_buckets(numbers: list[float]) -> float:
    """From left and right ends and counts: not exact, but zero stays zero."""
    rows = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    squares = sum(n * (a * a + a * b + b * b) / 3 for a, b, n in rows if n)
    return math.sqrt(squares) if squares >= 0 else math.nan


def _tensor(content: bytes) -> tuple[list[int], list[float]]:
    """The shape and the numbers of a TensorProto."""
    kind, raw = 0, b""
    shape: list[int] = []
    numbers: list[float] = []
    for number, value in fields(content):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number == 2 and isinstance(value, bytes):
            dimensions = [dict(fields(v)) for n, v in fields(value) if n == 2 and isinstance(v, bytes)]
            shape = [int(d.get(1, 0)) for d in dimensions]
        elif number == 4 and isinstance(value, bytes):
            raw = value
        elif number in (5, 6) and isinstance(value, bytes):
            code, size = ("f", 4) if number == 5 else ("d", 8)
            numbers += struct.unpack(f"<{len(value) // size}{code}", value)
    code = {**_FLOATS, **_HALF}.get(kind, "")
    if raw and code:
        numbers = list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))
    return shape, [float(n) for n in numbers]


def _records(file: Path, within: Path | None) -> Iterator[bytes]:
    with strangers.opened(file, strangers.EVENTS, within) as source:
        left = os.fstat(source.fileno()).st_size
        while len(head := source.read(12)) == 12:
            (length,) = struct.unpack("<Q", head[:8])
            left -= 16 + length
            if left < 0:
                return
            if length > _RECORD:
                source.seek(length + 4, os.SEEK_CUR)
                continue
            payload = source.read(length)
            if len(payload) < length or len(source.read(4)) < 4:
                return
            yield payload


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and what they hold; numbers of fixed size as bytes. Nonsense ends the message."""
    at, end = 0, len(message)
    while at < end:
        key, at = varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(message, at)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire, 0)
        if wire == 2:
            size, at = varint(message, at)
        elif not size:
            return
        if at + size > end:
            return
        yield number, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> tuple[int, int]:
    """The number that begins here, and where it ends. What is longer than a number is none: it ends all."""
    value = shift = 0
    while at < len(message):
        if shift == 7 * _DIGITS:
            return 0, len(message)
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return value, at
