"""The summaries of a run, from their first file to what the report says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from whygrad.model import Note, Watched
from whygrad.sinks.tensorboard import EventFile
from whygrad.watch import history
from whygrad.watch.schedule import Schedule
from whygrad.watch.watching import Watching

HISTORY = "watch.history"


class Summaries:
    """Event files and the history, in a folder that is made when there is something to put into it."""

    def __init__(self, schedule: Schedule, folder: Callable[[], Path], histograms: bool = True) -> None:
        self._where = folder
        self._folder: Path | None = None
        self._events = EventFile(self._make)
        self.watching = Watching(schedule, self._events, histograms)

    def start(self) -> None:
        """Before the program begins, in its main thread."""
        self._events.start()

    def finish(self) -> Watched:
        """Everything is on disk after this. Safe to call twice."""
        self._events.close()
        if self.watching.written and self._folder is not None:
            try:
                history.save(self._folder / HISTORY, self.watching.history())
            except OSError as error:
                self.watching.stop(str(error))
        return self.so_far()

    def so_far(self) -> Watched:
        """What was written until now."""
        path = self._events.path
        return Watched(
            updates=self.watching.written,
            schedule=str(self.watching.schedule),
            folder=str(self._folder) if self._folder is not None else "",
            files=(path.name,) if path is not None else (),
            refused=self._events.refused,
            late=self.watching.late,
            trouble=self.watching.trouble or self._events.trouble,
        )

    def step_aside(self) -> None:
        """In a forked child: nothing is summarised there."""
        self.watching.stop("this is a forked child")

    def _make(self) -> Path:
        self._folder = self._where()
        return self._folder


def notes(watched: Watched | None) -> tuple[Note, ...]:
    """What the user should know of the summaries beside where they are."""
    if watched is None:
        return ()
    found = []
    if watched.trouble:
        found.append(Note(f"summaries ended early: {watched.trouble}", kind="internal"))
    if watched.refused:
        text = f"{watched.refused} summaries were not written: the disk did not keep up ({watched.schedule})"
        found.append(Note(text))
    if watched.late:
        text = (
            f"{watched.late} updates that were due are not summarised: several were made in one call of a "
            "compiled function, which shows only its last"
        )
        found.append(Note(text))
    return tuple(found)
