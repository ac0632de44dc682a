"""A file that is written in the background.

What is accepted is in memory until the writing thread wakes up, a second later at most; sooner if much comes.
It is written before the process ends: at the end of the script, after an exception, on SIGTERM. SIGKILL and
``os._exit`` lose that second and nothing else. Training never waits: when 64 MB have piled up
because the disk does not keep up, records are refused, and the report says how many.
"""

from __future__ import annotations

import os
import signal
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from whygrad.doors import door

PAUSE, SHORT = 1.0, 0.2
MUCH = 1 << 18  # bytes in a pause
LIMIT = 64 << 20


class Writer:
    """Appends to one file."""

    def __init__(self, open_file: Callable[[], int], limit: int = LIMIT) -> None:
        self._open = open_file
        self._limit = limit
        self._file = -1
        self._queue: list[bytes] = []
        self._waiting = 0
        self._batch = b""
        self._lock, self._writing = threading.RLock(), threading.RLock()
        self._filled, self._over = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.refused = 0
        self.stored = 0  # bytes that are in the file
        self.trouble = ""
        _live.add(self)

    def add(self, data: bytes) -> bool:
        """Accept some bytes, which are whole records; false when they are refused."""
        with self._lock:
            if self._closed or self.trouble or self._waiting + len(data) > self._limit:
                self.refused += 1
                return False
            if not self._queue:
                self._filled.set()
            self._queue.append(data)
            self._waiting += len(data)
            if self._thread is None:
                self._start()
        return True

    def flush(self) -> int:
        """Write all that was accepted so far, in this thread: how many bytes?"""
        with self._writing:
            with self._lock:
                taken, self._queue = self._queue, []
                self._batch += b"".join(taken)
                size = len(self._batch)
            try:
                self._write()
            except Exception as error:
                self.trouble = f"{type(error).__name__}: {error}"
                self.refused += len(taken)
                self._batch = b""
            with self._lock:
                self._waiting = sum(map(len, self._queue))
            return size

    def close(self) -> None:
        """Write the rest and close the file. Safe to call twice."""
        with self._lock:
            self._closed = True
        self.flush()
        self._over.set()
        self._filled.set()
        with self._writing:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def forget(self) -> None:
        """In a forked child: the file is the parent's."""
        self._closed, self._queue, self._batch, self._thread = True, [], b"", None
        self._lock, self._writing = threading.RLock(), threading.RLock()

    def _start(self) -> None:
        filled, over, pid = self._filled, self._over, os.getpid()
        me = weakref.ref(self, lambda _: filled.set() if os.getpid() == pid else None)  # a fork has no thread
        self._thread = threading.Thread(target=_look_after, args=(me, filled, over), daemon=True)
        self._thread.name = "whygrad-writer"
        begin = threading.getprofile()
        threading.setprofile(None)  # a thread of ours is not the user's
        try:
            self._thread.start()
        finally:
            threading.setprofile(begin)

    def _write(self) -> None:
        if self._batch and self._file < 0:
            self._file = self._open()
        while self._batch:
            done = os.write(self._file, self._batch)
            self._batch = self._batch[done:]
            self.stored += done


@door
def _look_after(ref: Callable[[], Writer | None], filled: threading.Event, over: threading.Event) -> None:
    """Write a little after something has come, until the writer is closed or gone."""
    pause, writer = SHORT, None
    try:
        while filled.wait() and not over.wait(pause):
            writer = ref()
            if writer is None:
                return
            filled.clear()
            pause = SHORT if writer.flush() > MUCH else PAUSE
            writer = None  # nobody else may want it
    except Exception as error:
        if writer is not None:
            writer.trouble = f"{type(error).__name__}: {error}"


_live: weakref.WeakSet[Writer] = weakref.WeakSet()


@door
def _in_forked_child() -> None:
    for writer in list(_live):
        try:
            writer.forget()
        except Exception as error:
            writer.trouble = f"{type(error).__name__}: {error}"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)


class Terminated:
    """SIGTERM ends a process without a word, unless the program handles it: write first, and end just so."""

    def __init__(self, flush: Callable[[], object]) -> None:
        self._flush = flush
        self._pid = os.getpid()
        self._installed = False

    def install(self) -> None:
        """Only if nobody else handles the signal, and only where Python allows it."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_signal)
            self._installed = True

    def remove(self) -> None:
        """Put back what was there, unless the program has set its own since."""
        if self._installed and threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGTERM) == self._on_signal:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._installed = False

    @door
    def _on_signal(self, number: int, frame: FrameType | None) -> Any:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() == self._pid:
            with suppress(Exception):
                self._flush()
        os.kill(os.getpid(), number)
