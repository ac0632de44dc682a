"""The histograms of an event file, thinned out: what the report draws."""

from __future__ import annotations

import math
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from whygrad import strangers
from whygrad.summaries.reading import fields, varint

_MOST = 60  # points in time
_ROOM = 120_000  # numbers in all


@dataclass(frozen=True, slots=True)
class Pictured:
    """The histograms of one variable, or of its gradient: how many elements are below each limit."""

    variable: str
    of: str  # gradients | variable
    steps: list[int]
    limits: list[float]
    counts: list[list[int]]


def read(file: Path, most: int = _MOST) -> list[Pictured]:
    """At most so many points in time of every histogram; a record that is cut short ends the file."""
    with strangers.opened(file, strangers.EVENTS) as source:
        if not os.fstat(source.fileno()).st_size:
            return []
        with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as content:
            streams: dict[bytes, list[tuple[int, int]]] = {}
            for start, end in _records(content):
                tag = _first_histogram(content[start : min(end, start + 4096)])
                if tag is not None:
                    streams.setdefault(tag, []).append((start, end))
            return [p for places in streams.values() for p in _pictures(content, _few(places, most))]


def _few(places: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Evenly spread, the first and the last among them."""
    if len(places) <= most:
        return places
    return [places[round(n * (len(places) - 1) / (most - 1))] for n in range(most)]


def _pictures(content: mmap.mmap, places: list[tuple[int, int]]) -> Iterator[Pictured]:
    found: dict[str, list[tuple[int, dict[float, float]]]] = {}
    for start, end in places:
        step, values = _event(content[start:end])
        for tag, histogram in values:
            found.setdefault(tag, []).append((step, _buckets(histogram)))
    width = sum(len({limit for _, b in rows for limit in b}) for rows in found.values())
    stride = max(1, -(-width * len(places) // _ROOM))
    for tag, rows in found.items():
        variable, _, of = tag.rpartition("/")
        kept = rows[::stride]
        limits = sorted({limit for _, buckets in kept for limit in buckets})
        counts = [[int(buckets.get(limit, 0)) for limit in limits] for _, buckets in kept]
        if limits:
            yield Pictured(variable, of, [step for step, _ in kept], limits, counts)


def _records(content: mmap.mmap) -> Iterator[tuple[int, int]]:
    at, size = 0, len(content)
    while at + 16 <= size:
        (length,) = struct.unpack_from("<Q", content, at)
        if at + 16 + length > size:
            return
        yield at + 12, at + 12 + length
        at += 16 + length


def _first_histogram(beginning: bytes) -> bytes | None:
    """The tag of the first value, if it is a histogram. Only the beginning of the record is needed."""
    if beginning[:1] != b"\x09" or beginning[9:10] != b"\x10":  # time, step: as all known tools write it
        return None
    _, at = varint(beginning, 10)
    for key in (b"\x2a", b"\x0a"):  # the summary, and the first value in it
        if beginning[at : at + 1] != key:
            return None
        length, at = varint(beginning, at + 1)
    value = dict(fields(beginning[at : at + length]))
    tag = value.get(1)
    return tag if isinstance(tag, bytes) and 5 in value else None


def _event(payload: bytes) -> tuple[int, list[tuple[str, bytes]]]:
    step, values = 0, []
    for number, value in fields(payload):
        if number == 2 and isinstance(value, int):
            step = value
        elif number == 5 and isinstance(value, bytes):
            for _, inner in fields(value):
                parts = dict(fields(inner)) if isinstance(inner, bytes) else {}
                tag, histogram = parts.get(1), parts.get(5)
                if isinstance(tag, bytes) and isinstance(histogram, bytes):
                    values.append((strangers.line(tag.decode("utf-8", "replace")), histogram))
    return step, values


def _buckets(histogram: bytes) -> dict[float, float]:
    """Upper limit -> how many."""
    limits: tuple[float, ...] = ()
    counts: tuple[float, ...] = ()
    for number, value in fields(histogram):
        if isinstance(value, bytes) and number in (6, 7):
            numbers = struct.unpack(f"<{len(value) // 8}d", value[: len(value) // 8 * 8])
            limits, counts = (numbers, counts) if number == 6 else (limits, numbers)
    known = zip(limits, counts, strict=False)
    return {limit: n for limit, n in known if n and math.isfinite(n) and not math.isnan(limit)}
