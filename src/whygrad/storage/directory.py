"""The directory of a run: the one place that names it and writes into it."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

from whygrad import strangers

REPORT = "report.json"
EVIDENCE = "evidence.wg"
HISTORY = "watch.history"
FIXES = "fixes.json"
PROCESSES = "processes"  # what each of many processes has left
_RUNS = "runs"
_MOST = 1000  # runs of one name that start in the same second


class RunDirectory:
    """``out``, or ``runs/<stem>-<time>`` below ``base``; made when it is first needed.

    Fixed before the program runs, which may change its directory. Several threads may ask.
    """

    def __init__(self, stem: str, out: Path | None = None, base: Path | None = None) -> None:
        self.base = base if base is not None else _here()
        self.asked = out is not None  # somebody wants it, and wants it there
        self._out = self.base / out if out is not None else None
        self._name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
        self.claim = ""  # a folder among PROCESSES that child processes of this run may have made already
        self._made: Path | None = None
        self._making = threading.Lock()

    def path(self) -> Path:
        """The directory; it is there after this."""
        with self._making:
            if self._made is None:
                folder = self._out or self._new()
                folder.mkdir(parents=True, exist_ok=True)
                self._made = folder
            return self._made

    @property
    def place(self) -> Path:
        """Where it is, or would be; nothing is made by asking."""
        return self._made or self._out or self.base / _RUNS / self._name

    def write(self, name: str, content: str | bytes) -> Path:
        """A file in it, as a whole or not at all."""
        path = self.path() / name
        write_atomically(path, content)
        return path

    def remove(self, name: str) -> None:
        """No such file in it any more: that of an earlier run would be taken for this one's."""
        with contextlib.suppress(OSError):
            (self.path() / name).unlink(missing_ok=True)

    def _new(self) -> Path:
        """A directory that nobody has, with a number when two start at once."""
        runs = self.base / _RUNS
        runs.mkdir(parents=True, exist_ok=True)
        for n in range(1, _MOST):
            folder = runs / (f"{self._name}-{n}" if n > 1 else self._name)
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
            if self._has_ours(folder):
                return folder
        raise FileExistsError(17, f"{_MOST - 1} runs have this name already", str(runs / self._name))

    def _has_ours(self, folder: Path) -> bool:
        """Was it made by processes of this run, and by no others?"""
        with contextlib.suppress(OSError):
            inside = [path.name for path in (folder / PROCESSES).iterdir()]
            return bool(self.claim) and inside == [self.claim] and not (folder / REPORT).exists()
        return False


def _text(content: str) -> bytes:
    """What is no text (an argument, a message) is written as JSON would escape it."""
    return f"{content.rstrip(chr(10))}\n".encode("utf-8", "backslashreplace")


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return Path(os.sep)


def write_atomically(path: Path, content: str | bytes) -> None:
    """The whole file or nothing: readers never see half a report. A text ends with one line end."""
    data = content if isinstance(content, bytes) else _text(content)
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe: never replace it
        return
    strangers.write(path, data)


def write_beside(path: Path, content: str | bytes) -> None:
    """The same in a folder that may be a stranger's: what stands there under that name is replaced."""
    strangers.write(path, content if isinstance(content, bytes) else _text(content))
