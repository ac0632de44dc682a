"""Event files as TensorBoard reads them: per update one record with all numbers, one with histograms."""

from __future__ import annotations

import os
import socket
import time
from array import array
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from whygrad.summaries import kernel, wire
from whygrad.summaries.sinks.writer import LIMIT, Terminated, Writer

_number = count()


class EventFile:
    """One event file in a folder; both are made when the first summary is written."""

    def __init__(self, folder: Callable[[], Path] | Path, limit: int = LIMIT) -> None:
        self._folder = folder
        self._kernel = kernel.load()
        self._writer = Writer(self._open, limit)
        self._ending = Terminated(self._writer.flush)
        self.path: Path | None = None

    def start(self) -> None:
        """From now on SIGTERM does not lose anything. Call it in the main thread."""
        self._ending.install()

    def text(self, tag: str, markdown: str, step: int) -> None:
        """A text for the page of that name."""
        self._writer.add(wire.sealed(wire.event(wire.text(tag, markdown)), time.time(), step))

    def layout(self, tags: Sequence[str]) -> ScalarLayout:
        """A record whose bytes are laid out once."""
        return ScalarLayout(self._kernel, self._writer, tags)

    def histograms(self, tags: Sequence[str]) -> HistogramLayout:
        """A record with the histograms of an update."""
        return HistogramLayout(self._kernel, self._writer, tags)

    @property
    def stored(self) -> int:
        """How many bytes are in the file."""
        return self._writer.stored

    @property
    def refused(self) -> int:
        """How many records were not accepted because the disk did not keep up."""
        return self._writer.refused

    @property
    def trouble(self) -> str:
        """Why nothing is written any more."""
        return self._writer.trouble

    def flush(self) -> None:
        """Write what was accepted so far."""
        self._writer.flush()

    def close(self) -> None:
        """Write the rest. Safe to call twice."""
        self._writer.close()
        self._ending.remove()

    def _open(self) -> int:
        folder = self._folder if isinstance(self._folder, Path) else self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        unique = f"{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{next(_number)}"
        self.path = folder / f"events.out.tfevents.{unique}.whygrad"
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
        os.write(file, header())
        return file


class ScalarLayout:
    """The bytes of a record with these tags: only the numbers are still to be filled in."""

    def __init__(self, functions: Any, writer: Writer, tags: Sequence[str]) -> None:
        template, places = wire.scalars(tags)
        self._template, self._places = template, array("i", places)
        self._record, self._add = functions.record, writer.add

    def write(self, step: int, values: array[float]) -> None:
        """One more record, unless the disk does not keep up."""
        self._add(self._record(self._template, self._places, values, time.time(), step))


class HistogramLayout:
    """A record with one histogram per tag."""

    def __init__(self, functions: Any, writer: Writer, tags: Sequence[str]) -> None:
        self._tags = [tag.encode("utf-8", "backslashreplace") for tag in tags]
        self._record, self._add = functions.histograms, writer.add

    def write(self, step: int, rows: array[float], bins: array[int]) -> None:
        """One more record, unless the disk does not keep up."""
        self._add(self._record(self._tags, rows, bins, time.time(), step))


def header() -> bytes:
    """What every event file begins with."""
    stamp = b"\x09" + array("d", [time.time()]).tobytes()
    return wire.framed(stamp + wire.field(3, b"brain.Event:2"))
