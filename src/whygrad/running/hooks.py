"""How python shows the exceptions of the user's program: through the user's own hooks, without our frames."""

from __future__ import annotations

import functools
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from whygrad.doors import door
from whygrad.running.limits import Stop
from whygrad.running.tracebacks import peel, peeled


def show_without_us(error: BaseException) -> None:
    """Let python show this exception, once it gets to the top, as it is now.

    The exception is about to travel through our own frames. Only now, when the program is over, is
    ``sys.excepthook`` wrapped, and only until python calls it.
    """
    users_hook = getattr(sys, "excepthook", sys.__excepthook__)
    clean = error.__traceback__

    @door
    def hook(kind: type[BaseException], value: BaseException, now: TracebackType | None) -> None:
        sys.excepthook = users_hook
        if value is not error:
            users_hook(kind, value, now)
            return
        sys.last_traceback = error.__traceback__ = clean
        try:
            users_hook(kind, error, clean)
        except SystemExit:
            raise
        except BaseException as second:
            with suppress(Exception):
                _failed(second, error)

    sys.excepthook = hook


def _failed(second: BaseException, error: BaseException) -> None:
    """The user's hook has failed itself: say what python says."""
    second.__context__ = None if second.__context__ is error else second.__context__
    with suppress(Exception):
        peel(second)
    _write("Error in sys.excepthook:\n")
    sys.__excepthook__(type(second), second, second.__traceback__)
    _write("\nOriginal exception was:\n")
    sys.__excepthook__(type(error), error, error.__traceback__)


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)


class ThreadHook:
    """Stands in for ``threading.excepthook`` while the program runs, and tells of what it saw."""

    def __init__(
        self, failed: Callable[[BaseException], None], lost: Callable[[Exception], None] = lambda error: None
    ) -> None:
        self._failed, self._lost = failed, lost
        self._before = threading.excepthook

    def install(self) -> None:
        """Take the place of the hook that is there."""
        self._before = threading.excepthook
        threading.excepthook = self

    def remove(self) -> None:
        """Put back what was there, unless somebody else has replaced it since."""
        if threading.excepthook is self:
            threading.excepthook = self._before

    @door
    def __call__(self, args: threading.ExceptHookArgs) -> None:
        """Python shows an exception that ended a thread."""
        error, clean = args.exc_value, args
        if isinstance(error, Stop):
            return
        try:
            if error is not None and not isinstance(error, SystemExit):
                peel(error)
                self._failed(error)
            trace = peeled(args.exc_traceback)
            clean = threading.ExceptHookArgs((args.exc_type, error, trace, args.thread))
        except Exception as ours:
            self._lost(ours)
        self._before(clean)


class PrintedTracebacks:
    """Takes our frames out of tracebacks that the program prints or logs itself."""

    def __init__(self, lost: Callable[[Exception], None] = lambda error: None) -> None:
        self._before = traceback.TracebackException.__init__
        self._ours = _peeling(self._before, lost)

    def install(self) -> None:
        """Every way of the standard library to format an exception goes through this class."""
        traceback.TracebackException.__init__ = self._ours  # type: ignore[method-assign]

    def remove(self) -> None:
        """Put back what was there, unless somebody else has replaced it since."""
        if traceback.TracebackException.__init__ is self._ours:
            traceback.TracebackException.__init__ = self._before  # type: ignore[method-assign]


def _peeling(before: Callable[..., None], lost: Callable[[Exception], None]) -> Callable[..., None]:
    @door
    @functools.wraps(before)
    def init(
        self: traceback.TracebackException,
        exc_type: type[BaseException],
        exc_value: BaseException,
        exc_traceback: TracebackType | None,
        **options: object,
    ) -> None:
        trace = exc_traceback
        try:
            if exc_value is not None:
                peel(exc_value)
            trace = peeled(exc_traceback)
        except Exception as error:
            lost(error)
        before(self, exc_type, exc_value, trace, **options)

    return init
