"""When `whygrad check` has seen enough, and how it ends a program that would train for hours."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from whygrad.doors import door

_SIGNAL = getattr(signal, "SIGURG", None)  # rarely used, and ignored by default
GRACE = 5.0  # seconds that a program gets for its own cleaning up
_PAUSE = 0.1


class Stop(SystemExit):
    """Ends the user's program from inside. Threads, executors and event loops let it pass quietly."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Stop after ``updates`` recorded updates of each optimizer, or after ``seconds`` in any case."""

    updates: int = 5
    seconds: float = 120.0


class Stopper:
    """Raises ``Stop`` in the program: at an optimizer step, or in the main thread by a signal.

    A program that swallows it gets it again at its next step; one that is still there after a few
    seconds is given up: ``give_up`` is called, in our own thread, and is expected to end the process.
    """

    def __init__(self, limits: Limits, enough: Callable[[int], bool], give_up: Callable[[], None]) -> None:
        self.limits = limits
        self.reason = ""  # "" | judged | time
        self._enough = enough
        self._give_up = give_up
        self._asked = threading.Event()
        self._over = threading.Event()
        self._main_told = False
        self._parked = False
        self._handler_before: object = None
        self._deadline = 0.0

    @property
    def asked(self) -> bool:
        """Whether the program was told to stop."""
        return bool(self.reason)

    def start(self) -> None:
        """Start the clock. Call it in the main thread."""
        self._deadline = time.monotonic() + self.limits.seconds
        if _SIGNAL is not None:
            self._handler_before = signal.signal(_SIGNAL, self._on_signal)
        threading.Thread(target=self._watch, name="whygrad-clock", daemon=True).start()

    def finish(self) -> None:
        """The program is over: raise nothing any more."""
        self._over.set()
        self._asked.set()
        if _SIGNAL is None or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(_SIGNAL) == self._on_signal:
            signal.signal(_SIGNAL, self._handler_before)  # type: ignore[arg-type]

    def program_ended(self) -> None:
        """The main thread has left the program; others may still run."""
        self._main_told = True

    def on_step(self) -> None:
        """After every optimizer step, in the thread that made it."""
        if self._parked:
            threading.Event().wait()  # the process ends; until then nothing may change under the report
        if self._over.is_set():
            return
        if not self.reason and self._enough(self.limits.updates):
            self.ask("judged")
        if self.reason:
            if threading.current_thread() is threading.main_thread():
                self._main_told = True
            raise Stop(0)

    def ask(self, reason: str) -> None:
        """From now on the program shall end."""
        self.reason = self.reason or reason
        self._asked.set()

    @door
    def _watch(self) -> None:
        try:
            self._wait()
        except Exception:
            self.reason = self.reason or "time"  # the next step ends it

    def _wait(self) -> None:
        if not self._asked.wait(max(0.0, self._deadline - time.monotonic())):
            self.ask("time")
        give_up_at = time.monotonic() + GRACE
        while not self._over.wait(_PAUSE):
            if not self._main_told:
                self._tell_main()  # again: a signal just before a blocking call does not end that call
            if time.monotonic() > give_up_at:
                self._parked = True
                time.sleep(_PAUSE)
                self._give_up()

    def _tell_main(self) -> None:
        if _SIGNAL is not None and signal.getsignal(_SIGNAL) == self._on_signal:
            main = threading.main_thread().ident
            if main is not None:
                signal.pthread_kill(main, _SIGNAL)

    @door
    def _on_signal(self, signum: int, frame: object) -> None:
        if self.reason and not self._over.is_set() and not self._main_told:
            self._main_told = True
            raise Stop(0)


def caused_by_stop(error: BaseException) -> bool:
    """Whether this is our ``Stop``, or what a program made of it on its way out."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        current = todo.pop()
        if current is None or id(current) in seen:
            continue
        if isinstance(current, Stop):
            return True
        seen.add(id(current))
        todo += [current.__cause__, current.__context__]
    return False
