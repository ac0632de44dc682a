"""Attaches a backend at the moment when the program has imported its framework."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from whygrad.frameworks.imports import Waiting, half_imported
from whygrad.frameworks.protocol import Backend, Observation, Setup
from whygrad.model import Note
from whygrad.model.frameworks import FRAMEWORKS, Framework
from whygrad.summaries.watching import Watching


class Registry:
    """Waits for frameworks and keeps the backends that watch them.

    Nothing that goes wrong in a backend reaches the program: it becomes a note.
    """

    def __init__(self, setup: Setup, frameworks: Mapping[str, Framework] = FRAMEWORKS) -> None:
        self._setup = setup
        self._known = frameworks
        self._finder = Waiting(set(frameworks), self._imported, self._lost)
        self._backends: dict[str, Backend] = {}
        self._notes: list[Note] = []
        self.watching: Watching | None = None  # summaries, if somebody wants them
        self.seen: list[str] = []  # the frameworks that the program imported, in that order
        self._asked: Callable[[], None] | None = None  # to be called after the next step
        self.blind: list[str] = []  # frameworks of which nothing is seen, and why

    def start(self) -> None:
        """Watch imports; frameworks that are already there are attached to at once."""
        for name in self._known:
            if name in sys.modules and not half_imported(sys.modules[name]):
                self._imported(name)
        self._finder.start()

    def stop(self) -> None:
        """Detach everything and stop watching imports. Safe to call twice."""
        self._finder.cancel()
        for name, backend in self._backends.items():
            self.guard(f"detach from {name}", backend.detach)

    def summarize(self, watching: Watching | None) -> None:
        """Summarize updates from now on, in every framework; or no longer."""
        self.watching = watching
        for name, backend in self._backends.items():
            self.guard(f"summarize the updates of {name}", partial(backend.summarize, watching))

    def failed(self, error: BaseException) -> None:
        """Tell every backend of the exception that ends the program."""
        for name, backend in self._backends.items():
            self.guard(f"look at the exception with {name}", partial(backend.failed, error))

    def judged(self, updates: int) -> bool:
        """Has every backend seen ``updates`` updates of all that it watches?"""
        answers = [
            self.guard(f"count the updates of {name}", partial(backend.judged, updates))
            for name, backend in self._backends.items()
        ]
        return bool(answers) and all(answers)

    def observe(self) -> dict[str, Observation]:
        """What each backend has seen so far, by framework."""
        found = {
            name: self.guard(f"read what {name} did", backend.observe, sight=True)
            for name, backend in self._backends.items()
        }
        return {name: observation for name, observation in found.items() if observation is not None}

    def peek(self) -> dict[str, Observation]:
        """The same while the program trains, without a trace. What goes wrong is raised."""
        return {name: backend.peek() for name, backend in list(self._backends.items())}

    def go_on(self, on_step: Callable[[], None] | None) -> None:
        """In a forked child: whoever can watch here does; the others leave."""
        self._asked = self.watching = None
        self._setup = replace(self._setup, on_step=on_step)
        for name, backend in list(self._backends.items()):
            goes = getattr(backend, "goes_on", None)
            if goes is None or not self.guard(f"go on with {name}", partial(goes, on_step)):
                self.guard(f"detach from {name}", backend.detach)
                del self._backends[name]

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this after the next optimizer step of any framework, in the thread that makes it.

        It may be called more than once if several threads train. Asking again is harmless.
        """
        self._asked = call
        for backend in list(self._backends.values()):
            backend.after_next_step(call)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What could not be watched, and why."""
        return tuple(self._notes)

    def _imported(self, name: str) -> None:
        if name in self.seen:
            return
        self.seen.append(name)
        path = self._known[name].backend
        if not path:
            self._notes.append(Note(f"{name} was imported: this version of whygrad does not watch it yet"))
            return
        self.guard(f"attach to {name}", partial(self._attach, name, path), sight=True)

    def _lost(self, name: str, error: Exception) -> None:
        """The framework is there, and we are not."""
        note = Note(f"whygrad could not attach to {name}: {brief(error)}", kind="internal")
        self._notes.append(note)
        self.blind.append(note.text)
        if name not in self.seen:
            self.seen.append(name)

    def _attach(self, name: str, path: str) -> None:
        module, _, factory = path.partition(":")
        backend: Backend = getattr(importlib.import_module(module), factory)()
        try:
            backend.attach(self._setup)
        except BaseException:
            backend.detach()
            raise
        self._backends[name] = backend
        if self._asked is not None:
            self.guard(f"wait for a step of {name}", partial(backend.after_next_step, self._asked))
        if self.watching is not None:
            self.guard(f"summarize the updates of {name}", partial(backend.summarize, self.watching))

    def guard(self, what: str, action: Callable[[], Any], sight: bool = False) -> Any:
        """Do it; a failure becomes a note, once. ``sight``: without it nothing can be judged."""
        try:
            return action()
        except Exception as error:
            note = Note(f"whygrad could not {what}: {brief(error)}", kind="internal")
            if note not in self._notes:
                self._notes.append(note)
                self.blind += [note.text] if sight else []
            return None


def brief(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if traceback is None:
        return text
    return f"{text} ({traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno})"
