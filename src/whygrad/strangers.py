"""Files that somebody else may have made: how they are opened, read, believed and written beside each other.

A run directory, an event file or a model may come from anywhere. Only regular files are opened, no link leads
out of the folder that was named, no file is larger than it may be, and no text that is read from one can
steer the terminal that it is printed on. ``OSError`` and ``ValueError`` say in one sentence what was wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

REPORT = 32 << 20  # bytes of a report, or of any other file of JSON
EVENTS = 4 << 30  # bytes of an event file

_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NOWHERE_ELSE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
#: What moves a cursor, changes a title, turns the direction of writing, or is half a character.
_STEERING = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
)
_IN_A_TEXT = re.compile(f"[{_STEERING}]|\r(?!\n)")
_IN_A_LINE = re.compile(f"[{_STEERING}\r\n\t]")


class Refused(OSError):
    """A file that is not opened; the text is a whole sentence without its end."""


@contextlib.contextmanager
def opened(path: Path, most: int, within: Path | None = None) -> Iterator[BinaryIO]:
    """A regular file of at most so many bytes, which is ``within`` this folder (default: its own)."""
    folder = os.path.realpath(path.parent if within is None else within)
    real = os.path.realpath(path)  # which does not fail for links in a circle
    if not Path(real).is_relative_to(folder):
        raise Refused(f"{line(path)} leads out of its folder, to {line(real)}")
    # The last look is at the open file: what was checked by name may have been exchanged since.
    descriptor = os.open(real, _READING | _NOWHERE_ELSE)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise Refused(f"{line(path)} is not a regular file")
        if about.st_size > most:
            raise Refused(f"{line(path)} is larger than {most >> 20} MB")
        with open(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def content(path: Path, most: int = REPORT, within: Path | None = None) -> bytes:
    """All that is in such a file."""
    with opened(path, most, within) as file:
        found = file.read(most + 1)
    if len(found) > most:  # some say that they are empty, and are not
        raise Refused(f"{line(path)} is larger than {most >> 20} MB")
    return found


def parsed(found: bytes | str) -> Any:
    """JSON; whatever is wrong with it is a ``ValueError``, and no text in it steers anything."""
    try:
        return cleaned(json.loads(found))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def cleaned(value: Any) -> Any:
    """The same with texts that can be printed."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(key): cleaned(held) for key, held in value.items()}
    return [cleaned(held) for held in value] if isinstance(value, list) else value


def text(value: str) -> str:
    """It may have several lines; what would steer a terminal is written out."""
    return _IN_A_TEXT.sub(_written, value)


def line(value: object) -> str:
    """The same on one line: a name, a path, a message."""
    return _IN_A_LINE.sub(_written, str(value))


def _written(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def write(path: Path, data: bytes | str) -> None:
    """The whole file or nothing; a link that stands there is replaced, and never followed."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    try:
        with open(os.open(part, _WRITING | _NOWHERE_ELSE, 0o666), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
