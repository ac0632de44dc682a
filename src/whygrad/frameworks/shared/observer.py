"""What watching is in every framework: who trains, who is told of a step, what things are called."""

from __future__ import annotations

import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any, Protocol

from whygrad.doors import door
from whygrad.frameworks.registry import brief
from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.budget import Budget
from whygrad.frameworks.shared.flags import Flags
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.records import Failure, Records
from whygrad.summaries.watching import Watching

_MOST = 65_536  # parameters of which it is remembered that nobody has a name for them


class Found(Protocol):
    """What a walk through the user's variables has found."""

    optimizers: dict[int, str]
    trouble: str


class BaseObserver(ABC):
    """The part of watching that no framework changes. What differs is asked of the methods below."""

    may_go_on: bool = False  # can it be watched in a forked child?
    summaries: Any  # of the framework, if somebody wants them
    flags: Flags

    def __init__(
        self,
        namespace: Callable[[], Mapping[str, Any]],
        on_step: Callable[[], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.optimizers = Optimizers()
        self.attention = Attention(self.optimizers, budget)
        self.aliases: list[tuple[tuple[str, ...], tuple[int, ...]]] = []  # two names for the same parameters
        self.failure: Failure | None = None
        self.aside = ""  # why we have stepped aside
        self.aside_after = 0  # updates
        self.on_step = self._always = on_step
        self.pid = os.getpid()
        self.naming = threading.RLock()
        self.unnamed = ""  # why names may be missing: our own failure
        self._namespace = namespace
        self._named: set[int] = set()  # parameters for which names were looked up
        self._profile: Any = None

    # -- what a framework gives --------------------------------------------------------------------

    @abstractmethod
    def start(self) -> None:
        """Put the hooks in and begin to record in this thread and in every new one."""

    @abstractmethod
    def stop(self) -> None:
        """Take everything out again."""

    @abstractmethod
    def summarize(self, watching: Watching | None) -> None:
        """Summarize updates from now on, or no longer."""

    @abstractmethod
    def records(self) -> Records:
        """What there is so far, with the names of now. Nothing is changed by it."""

    @abstractmethod
    def find_names(self, frame: FrameType | None) -> Found:
        """Name parameters by the user's variables that are in scope at ``frame``."""

    @abstractmethod
    def enter_thread(self) -> None:
        """A new thread of the program has begun."""

    @abstractmethod
    def fall_silent(self) -> None:
        """Record nothing from now on, in any thread."""

    @abstractmethod
    def leave_fork(self) -> None:
        """In a forked child: take out what would be felt there."""

    @abstractmethod
    def see_next_step(self) -> None:
        """Be there when the next step is made, wherever it is."""

    @abstractmethod
    def step_seen(self) -> None:
        """It was made; nobody has to be there for the next one."""

    @property
    def half_blind(self) -> bool:
        """Is there something that can never be recorded, however long one waits?"""
        return bool(self.aside)

    # -- the life of a watch -----------------------------------------------------------------------

    def see_threads(self) -> None:
        """Be told of new threads, unless somebody else is."""
        self._profile = threading.getprofile()
        if self._profile is None:
            threading.setprofile(self._new_thread)

    def forget_threads(self) -> None:
        """No longer."""
        if threading.getprofile() == self._new_thread:
            threading.setprofile(self._profile)

    @door
    def _new_thread(self, frame: FrameType, event: str, argument: Any) -> None:
        sys.setprofile(None)
        try:
            self.enter_thread()
        except Exception as error:
            self.stepped_aside(error)

    def stepped_aside(self, error: BaseException) -> None:
        """Our own failure: stop recording, keep what there is, say so at the end."""
        if not self.aside:
            self.aside = brief(error)
            # Nothing of ours is called here that could fail in its turn: this stands in every handler.
            self.aside_after = sum(r.steps for r in list(self.optimizers.by_address.values()))
        self.fall_silent()

    def forked(self) -> None:
        """In a forked child: nothing is watched there."""
        self.on_step = self._always = None
        self.leave_fork()

    def go_on(self, on_step: Callable[[], None] | None) -> None:
        """In a forked child whose updates are gathered: what the parent has done is the parent's."""
        self.pid = os.getpid()
        self.on_step = self._always = on_step
        self.naming = threading.RLock()  # another thread may have held it
        self.failure = None
        self.optimizers.begin_anew()
        self.forget_past()

    def forget_past(self) -> None:
        """In such a child: what was recorded before it was there led to none of its updates."""
        self.leave_fork()

    def stepped(self) -> None:
        """A step was taken: whoever counts may end the script here."""
        call = self.on_step  # another thread may take it away meanwhile
        if call is not None:
            call()

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this once, in the thread that makes the next step."""

        def once() -> None:
            self.on_step = self._always
            try:
                self.step_seen()
                call()
            except Exception as error:
                self.stepped_aside(error)
            if self._always is not None:
                self._always()

        self.on_step = once
        self.see_next_step()

    # -- names -------------------------------------------------------------------------------------

    def name_new_things(self, params: Iterable[Param], frame: FrameType) -> None:
        """Look for names again if there is somebody whom no earlier look was for; for flags each time."""
        self.flags.look(frame)
        keys = {p.key for p in params if not p.name}
        if not self._named or not keys <= self._named:
            self._named = keys | {0} if len(self._named) > _MOST else self._named | keys | {0}
            self.name_things(frame)

    def name_things(self, frame: FrameType | None) -> None:
        """Find the user's names for parameters and optimizers, in scope at ``frame``."""
        with self.naming:
            names = self.find_names(frame)
            self.unnamed = self.unnamed or names.trouble
            self.optimizers.name(names.optimizers)
