"""What a run summarizes, and when: all its streams, and what became of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whygrad.model import Series
from whygrad.summaries import kernel
from whygrad.summaries.history import History
from whygrad.summaries.schedule import Schedule
from whygrad.summaries.stream import Sink, Stream

MOST = 64


@dataclass(eq=False, slots=True)
class Watching:
    """The summaries of one run. Backends ask whether an update is due, and hand its tensors to a stream."""

    schedule: Schedule
    sink: Sink
    histograms: bool = True
    trouble: str = ""  # why nothing is summarized any more
    streams: list[Stream] = field(default_factory=list)
    late: int = 0  # updates that came several to a call, of which only the last was seen
    told: Callable[[Stream], None] | None = None  # called after each summary
    _groups: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def stream(self, optimizer: str, variables: Sequence[str], instead: Stream | None = None) -> Stream:
        """A new stream; names that are taken get a number, so that no chart mixes two variables.

        ``instead`` of one that has ended, if an optimizer holds other variables than before.
        """
        if len(self.streams) == MOST:
            raise RuntimeError(f"there are more than {MOST} optimizers")
        with self._lock:
            if instead is not None:
                self._groups -= {instead.optimizer, *instead.variables}
            named = self._free(optimizer)
            made = Stream(
                named, [self._free(v) for v in variables], kernel.load(), self.sink, self.histograms
            )
            self.streams.append(made)
        return made

    def stop(self, why: str) -> None:
        """Our own failure, or the user's function's: training goes on without summaries."""
        self.trouble = self.trouble or why

    @property
    def written(self) -> int:
        """How many updates were summarized."""
        return sum(stream.written for stream in self.streams)

    def history(self) -> tuple[Series, ...]:
        """What is remembered of all streams."""
        return tuple(series for stream in self.streams for series in stream.history.series())

    def copies(self) -> tuple[History, ...]:
        """What is remembered, as it is now: quick, so that training does not wait."""
        return tuple(stream.history.copy() for stream in list(self.streams))

    def _free(self, name: str) -> str:
        number, found = 1, name
        while found in self._groups:
            number += 1
            found = f"{name} ({number})"
        self._groups.add(found)
        return found
