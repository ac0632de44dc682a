"""One line on the terminal while a script trains under ``--watch``, never in the way of the script's output.

The line is on stderr, and only if that is a terminal. It is taken away before the script writes
through ``sys.stdout`` or ``sys.stderr``, and it is not drawn while the script's last line is unfinished: a
prompt, a progress bar. What child processes or C code write to the terminal by themselves is not seen here.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from whygrad.doors import door
from whygrad.summaries.stream import Stream
from whygrad.summaries.watching import Watching

_PAUSE = 0.2
_LOOK_AFTER = 2.0  # seconds until findings are looked for; then three times as long, and so on
_ERASE = "\r\x1b[K"


class Progress:
    """Draws, and steps back."""

    def __init__(self, watching: Watching, terminal: TextIO, findings: Callable[[], int]) -> None:
        self._watching, self._terminal, self._findings = watching, terminal, findings
        self._streams = [s for s in (sys.stdout, sys.stderr) if s is not None and _is_terminal(s)]
        self._shown = self._drawing = False
        self._at_start = True  # of a line: the script has finished what it wrote
        self._drawn, self._began = 0.0, time.monotonic()
        self._last = (self._began, 0)
        self._rate = 0.0
        self._found: int | None = None
        self._look, self._wait = self._began + _LOOK_AFTER, _LOOK_AFTER

    def start(self) -> None:
        """From now on; call it before the script runs."""
        for stream in self._streams:
            with contextlib.suppress(AttributeError):
                stream.write = self._stepping_back(stream.write)  # type: ignore[method-assign]
        self._watching.told = self.summarized

    def close(self) -> None:
        """Take the line away, and let the streams be as they were."""
        self._watching.told = None
        self._take_away()
        for stream in self._streams:
            with contextlib.suppress(AttributeError):
                del stream.write

    def summarized(self, stream: Stream) -> None:
        """An update was summarized: draw, if it is time."""
        now = time.monotonic()
        if now - self._drawn < _PAUSE or not self._at_start:
            return
        since, before = self._last
        made = sum(s.step for s in self._watching.streams)
        self._rate = (made - before) / max(now - since, 1e-9)
        self._last, self._drawn = (now, made), now
        if now >= self._look:
            self._found = self._findings()
            self._wait *= 3
            self._look = time.monotonic() + self._wait
        self._draw(self._text(made, stream))

    def _text(self, made: int, stream: Stream) -> str:
        parts = [f"whygrad: {made:,} updates", f"{self._rate:,.0f}/s", stream.worst()]
        if self._found is not None:
            parts.append(f"{self._found} findings so far" if self._found != 1 else "1 finding so far")
        return " · ".join(part for part in parts if part)

    def _draw(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            width = os.get_terminal_size(self._terminal.fileno()).columns or 80
            self._drawing = True
            try:
                self._terminal.write(_ERASE + text[: width - 1] + "\r")
                self._terminal.flush()
                self._shown = True
            finally:
                self._drawing = False

    def _take_away(self) -> None:
        if self._shown:
            self._shown = False
            self._drawing = True
            try:
                with contextlib.suppress(OSError, ValueError):
                    self._terminal.write(_ERASE)
                    self._terminal.flush()
            finally:
                self._drawing = False

    def _stepping_back(self, original: Callable[[str], int]) -> Callable[[str], int]:
        @door
        def write(text: str) -> int:
            try:
                if not self._drawing:
                    self._take_away()
                    if text:
                        self._at_start = text.endswith("\n")
            except Exception:
                self._shown = self._at_start = False  # nothing is drawn any more
            return original(text)

        return write


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def wanted(terminal: TextIO, quiet: bool) -> bool:
    """Is there somebody who looks?"""
    return not quiet and _is_terminal(terminal) and os.environ.get("TERM") != "dumb"
