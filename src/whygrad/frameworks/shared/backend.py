"""A backend: what the rest of whygrad knows of a framework. Each framework adds only what differs."""

from __future__ import annotations

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Generic, TypeVar

from whygrad.doors import door
from whygrad.frameworks.protocol import Observation, Setup
from whygrad.frameworks.shared.counting import count_of
from whygrad.frameworks.shared.evidence import Freezer
from whygrad.frameworks.shared.observer import BaseObserver
from whygrad.frameworks.shared.records import Records
from whygrad.frameworks.shared.scopes import innermost
from whygrad.model import Evidence, Note
from whygrad.summaries.watching import Watching

observers: weakref.WeakSet[BaseObserver] = weakref.WeakSet()
ObserverT = TypeVar("ObserverT", bound=BaseObserver)


@door
def _in_forked_child() -> None:
    for observer in list(observers):
        try:
            if os.getpid() != observer.pid:  # unless somebody watches here already
                observer.forked()
        except Exception as error:
            observer.stepped_aside(error)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)


class BaseBackend(ABC, Generic[ObserverT]):
    """Watches a framework from ``attach`` to ``detach``."""

    framework: str
    version: str

    def __init__(self) -> None:
        self.observer: ObserverT | None = None
        self._crash: tuple[str, str] | None = None

    # -- what a framework gives --------------------------------------------------------------------

    @abstractmethod
    def make(self, setup: Setup) -> ObserverT:
        """Who will watch."""

    @abstractmethod
    def freeze(self, observer: ObserverT, records: Records) -> Freezer:
        """Who makes evidence of what was recorded."""

    def alone(self, observer: ObserverT) -> AbstractContextManager[None]:
        """What the framework is asked in here is not the user's."""
        return nullcontext()

    def unheard(self) -> AbstractContextManager[None]:
        """A look in the middle of training: nobody in the program is told of it."""
        return nullcontext()

    def about_error(self, observer: ObserverT, error: BaseException) -> None:
        """More about the exception that ends the script, if its message says less than there is."""

    def completed(self, evidence: Evidence) -> Evidence:
        """With what only this framework knows."""
        return evidence

    def limits(self, observer: ObserverT) -> list[Note]:
        """What this framework, or the way it is used, does not let us see."""
        return []

    # -- the protocol ------------------------------------------------------------------------------

    def attach(self, setup: Setup) -> None:
        """Start to watch."""
        self.observer = observer = self.make(setup)
        observers.add(observer)
        observer.start()

    def detach(self) -> None:
        """Restore the framework as it was."""
        if self.observer is not None:
            self.observer.stop()

    def summarize(self, watching: Watching | None) -> None:
        """Summarize updates from now on, or no longer."""
        if self.observer is not None:
            self.observer.summarize(watching)

    def goes_on(self, on_step: Callable[[], None] | None) -> bool:
        """In a forked child of a watched process: does the watch go on here?"""
        observer = self.observer
        if observer is None or not observer.may_go_on or observer.aside:
            return False
        self._crash = None
        observer.go_on(on_step)
        return True

    def failed(self, error: BaseException) -> None:
        """The script ends with this exception: names in scope where it was raised, what was under way."""
        if self.observer is not None:
            self._crash = (type(error).__name__, str(error))
            self.observer.name_things(innermost(error.__traceback__))
            self.about_error(self.observer, error)

    def judged(self, updates: int) -> bool:
        """Every optimizer in use has been recorded often enough, or has been silent for long."""
        observer = self.observer
        return observer is not None and observer.attention.judged(updates, observer.half_blind)

    def observe(self) -> Observation:
        """What was seen so far."""
        observer = self.observer
        if observer is None:
            return Observation(version=self.version)
        seen = self._seen(observer)
        if observer.summaries is None:
            return seen
        return replace(seen, evidence=replace(seen.evidence, history=observer.summaries.watching.history()))

    def peek(self) -> Observation:
        """The same while the script trains: nothing of it is recorded."""
        observer = self.observer
        if observer is None:
            return Observation(version=self.version)
        with self.unheard():
            return self._seen(observer)

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this in the thread that makes the next step."""
        if self.observer is not None:
            self.observer.after_next_step(call)

    def _seen(self, observer: ObserverT) -> Observation:
        with self.alone(observer):
            records = observer.records()
            evidence = self.freeze(observer, records).evidence(self._crash, finished=self._crash is None)
        evidence = replace(
            self.completed(evidence),
            framework=self.framework,
            complete=not observer.aside,
            lost=observer.aside,
            lost_after=observer.aside_after,
        )
        counts = tuple(map(count_of, records.optimizers))
        return Observation(evidence, counts, tuple(self._notes(observer)), self.version)

    def _notes(self, observer: ObserverT) -> list[Note]:
        notes = self.limits(observer)
        if observer.unnamed:
            notes.append(Note(f"some names were not looked up ({observer.unnamed})", kind="internal"))
        if observer.aside:
            notes.append(Note(f"recording stopped early ({observer.aside})", kind="internal"))
        return notes
