"""The summaries of a run, from their first file to what the report says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from whygrad.model import Run, Site, Watched
from whygrad.reporters import tensorboard_text
from whygrad.storage.directory import HISTORY, write_atomically
from whygrad.summaries import history
from whygrad.summaries.schedule import Schedule
from whygrad.summaries.sinks.tensorboard import EventFile
from whygrad.summaries.watching import Watching


class Summaries:
    """Event files and the history, in a folder that is made when there is something to put into it."""

    def __init__(self, schedule: Schedule, folder: Callable[[], Path], histograms: bool = True) -> None:
        self._where = folder
        self._folder: Path | None = None
        self._told: list[tuple[str, Site | None]] = []  # the findings that TensorBoard shows
        self._events = EventFile(self._make)
        self.watching = Watching(schedule, self._events, histograms)

    def start(self) -> None:
        """Before the program begins, in its main thread."""
        self._events.start()

    def finish(self, run: Run | None = None) -> Watched:
        """Everything is on disk after this, with what was found in the run. Safe to call twice."""
        if run is not None:
            self._tell(run)
        self._events.close()
        if self.watching.written and self._folder is not None:
            try:
                write_atomically(self._folder / HISTORY, history.packed(self.watching.history()))
            except OSError as error:
                self.watching.stop(str(error))
        return self.so_far()

    def keep(self, run: Run, copies: Sequence[history.History]) -> Watched:
        """While the program runs: what would be lost if it were killed now."""
        causes = [(finding.rule, finding.site) for finding in run.findings]
        if causes != self._told:
            self._told = causes
            self._tell(run)
        if self.watching.written and self._folder is not None:
            series = [series for copy in copies for series in copy.series()]
            write_atomically(self._folder / HISTORY, history.packed(series))
        return self.so_far()

    def _tell(self, run: Run) -> None:
        """Findings as pages of text, for people who look at TensorBoard."""
        if not any(update.count for update in run.updates):
            return
        step = max((stream.step for stream in self.watching.streams), default=0)
        try:
            for tag, page in tensorboard_text.pages(run).items():
                self._events.text(tag, page, step)
        except Exception as error:
            self.watching.stop(f"no text: {type(error).__name__}: {error}")

    def so_far(self) -> Watched:
        """What was written until now."""
        path = self._events.path
        return Watched(
            updates=self.watching.written if self._events.stored or not self._events.trouble else 0,
            schedule=str(self.watching.schedule),
            folder=str(self._folder) if self._folder is not None else "",
            files=(path.name,) if path is not None else (),
            refused=self._events.refused,
            late=self.watching.late,
            trouble=self.watching.trouble or self._events.trouble,
        )

    def step_aside(self) -> None:
        """In a forked child: nothing is summarized there."""
        self.watching.stop("this is a forked child")

    def _make(self) -> Path:
        self._folder = self._where()
        return self._folder
