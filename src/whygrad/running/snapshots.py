"""A report while the script still runs, so that one is there when it is killed.

A thread wakes up now and then and asks for a look. The look itself is taken by the thread that trains, right
after one of its steps: nothing changes under it. What is found in it is judged and written in the other
thread. That one is no ``threading.Thread``: a script that counts or joins all threads does not meet it.
"""

from __future__ import annotations

import _thread
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from whygrad.doors import door

Look = TypeVar("Look")


@dataclass(frozen=True, slots=True)
class Pace:
    """When they are taken."""

    first: float = 5.0  # seconds after the first step
    rarer: float = 4.0  # times as long until the next one
    longest: float = 300.0  # seconds between two of them, if they are cheap
    cheap: float = 500.0  # times what one takes: the least time between two


USUAL = Pace()
LIVE = Pace(first=1.0, rarer=1.5, longest=10.0, cheap=100.0)  # somebody looks at them

_PATIENCE = 1.0  # seconds to wait for a step before asking again
_MOST_FAILURES = 3


class Snapshots(Generic[Look]):
    """Asks, judges and writes, from the first step to ``stop``."""

    def __init__(
        self,
        after_next_step: Callable[[Callable[[], None]], None],
        look: Callable[[], Look],
        keep: Callable[[Look], None],
        pace: Pace | None = None,
    ) -> None:
        self._pace = pace or USUAL
        self._after_next_step, self._look, self._keep = after_next_step, look, keep
        self._begun = threading.Lock()  # taken by the first step, for good
        self._looking = threading.Lock()
        self._keeping = threading.Lock()
        self._over, self._there = threading.Event(), threading.Event()
        self._wanted = False
        self._found: Look | None = None
        self._cost = 0.0
        self._failures = 0
        self.taken = 0
        self.trouble = ""  # why there are no more of them

    def start(self) -> None:
        """From the next step on. A script that makes no step has no thread."""
        self._after_next_step(self._first_step)

    def stop(self) -> None:
        """No more of them: the real report comes now. Waits for one that is being written."""
        self._over.set()
        self._there.set()
        if self._keeping.acquire(timeout=10):
            self._keeping.release()

    def _first_step(self) -> None:
        if self._begun.acquire(blocking=False):
            _thread.start_new_thread(self._run, ())

    @door
    def _run(self) -> None:
        try:
            self._look_now_and_then()
        except Exception as error:  # the end of the run is reported all the same
            self.trouble = f"{type(error).__name__}: {error}"

    def _look_now_and_then(self) -> None:
        wait, pace = self._pace.first, self._pace
        while not self._over.wait(wait) and self._failures < _MOST_FAILURES:
            began = time.thread_time()
            self._cost = 0.0
            try:
                self._one()
                self._failures = 0
            except Exception:  # the run goes on, and its end is reported all the same
                self._failures += 1
            least = pace.cheap * (self._cost + time.thread_time() - began)
            wait = max(min(pace.rarer * wait, pace.longest), least)

    def _one(self) -> None:
        """One look, from asking for it to the file."""
        self._there.clear()
        self._wanted = True
        while not self._over.is_set():
            self._after_next_step(self._step)
            if self._there.wait(_PATIENCE):
                break
        found, self._found = self._found, None
        with self._keeping:
            if self._over.is_set():
                return
            if found is None:
                raise LookupError("the look failed")
            self._keep(found)
            self.taken += 1

    def _step(self) -> None:
        """In the thread that trains: look, and let the other thread do the rest."""
        if not self._looking.acquire(blocking=False):
            return  # another thread that trains is at it
        try:
            if not self._wanted or self._over.is_set():
                return
            self._wanted = False
            began = time.perf_counter()
            try:
                with contextlib.suppress(Exception):  # nothing found: counted as a failure
                    self._found = self._look()
            finally:  # the user may press Ctrl-C meanwhile
                self._cost = time.perf_counter() - began
                self._there.set()
        finally:
            self._looking.release()
