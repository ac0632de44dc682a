"""Summaries into a writer that the program has made itself: torch's, or one that takes raw summaries."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import Any

from whygrad.summaries import wire
from whygrad.summaries.kernel import BINS, FIGURES


class TorchWriter:
    """``torch.utils.tensorboard.SummaryWriter``, or anything with its methods."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def layout(self, tags: Sequence[str]) -> _Scalars:
        """One number after the other."""
        return _Scalars(self._writer, tags)

    def histograms(self, tags: Sequence[str]) -> _Histograms:
        """Buckets, as they are."""
        return _Histograms(self._writer, tags)


class _Scalars:
    def __init__(self, writer: Any, tags: Sequence[str]) -> None:
        self._writer, self._tags = writer, tuple(tags)

    def write(self, step: int, values: array[float]) -> None:
        """All of them."""
        for tag, value in zip(self._tags, values, strict=False):
            if tag:
                self._writer.add_scalar(tag, value, step)


class _Histograms:
    def __init__(self, writer: Any, tags: Sequence[str]) -> None:
        self._writer, self._tags = writer, tuple(tags)

    def write(self, step: int, rows: array[float], bins: array[int]) -> None:
        """Those that there are."""
        for i, tag in enumerate(self._tags):
            row = rows[i * len(FIGURES) : (i + 1) * len(FIGURES)]
            found = wire.buckets(bins[i * BINS : (i + 1) * BINS])
            if found and row[2] == row[2]:
                number = sum(count for _, count in found)
                self._writer.add_histogram_raw(
                    tag,
                    row[2],
                    row[3],
                    number,
                    row[0] * number,
                    row[4] ** 2,
                    [limit for limit, _ in found],
                    [count for _, count in found],
                    step,
                )


class RawWriter:
    """A writer that takes a whole Summary message, such as one of ``tf.summary``."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def layout(self, tags: Sequence[str]) -> _RawScalars:
        """All numbers in one message."""
        return _RawScalars(self._writer, tags)

    def histograms(self, tags: Sequence[str]) -> _RawHistograms:
        """All histograms in one message."""
        return _RawHistograms(self._writer, tags)


class _RawScalars:
    def __init__(self, writer: Any, tags: Sequence[str]) -> None:
        self._writer, self._tags = writer, [tag.encode("utf-8", "backslashreplace") for tag in tags]

    def write(self, step: int, values: array[float]) -> None:
        """One message."""
        pairs = [(tag, value) for tag, value in zip(self._tags, values, strict=False) if tag]
        small = array("f", [value for _, value in pairs])
        parts = [
            wire.field(1, wire.field(1, tag) + b"\x15" + struct.pack("<f", value))
            for (tag, _), value in zip(pairs, small, strict=True)
        ]
        self._writer.write(step, b"".join(parts))


class _RawHistograms:
    def __init__(self, writer: Any, tags: Sequence[str]) -> None:
        self._writer, self._tags = writer, [tag.encode("utf-8", "backslashreplace") for tag in tags]

    def write(self, step: int, rows: array[float], bins: array[int]) -> None:
        """One message."""
        many = len(FIGURES)
        parts = [
            wire.histogram(tag, rows[i * many : (i + 1) * many], bins[i * BINS : (i + 1) * BINS])
            for i, tag in enumerate(self._tags)
        ]
        self._writer.write(step, b"".join(parts))
