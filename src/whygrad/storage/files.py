"""Files from strangers, read with care."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from whygrad.model import Recording
from whygrad.storage import limits
from whygrad.storage.directory import EVIDENCE


class NotARun(Exception):
    """One sentence that says why something cannot be read as a run."""


def read_evidence(path: Path) -> Recording:
    """The recording in a file, or ``NotARun``. Costs a bounded time and memory, whatever is in it."""
    try:
        from whygrad.storage.packing import Broken, unpack
    except ImportError as error:
        raise NotARun(f"{path} cannot be read without msgspec: {error}") from error
    try:
        return unpack(_content(path))
    except Broken as error:
        raise NotARun(f"{path} {error}") from error
    except OSError as error:
        raise NotARun(f"{path} cannot be read: {error.strerror or error}") from error


def evidence_in(folder: Path) -> Path | None:
    """The evidence of a run directory; whatever stands there under its name."""
    path = folder / EVIDENCE
    return path if os.path.lexists(path) else None


def _content(path: Path) -> bytes:
    """What is in a regular file that is not too large; pipes, devices and ways out of the folder are none."""
    real = Path(os.path.realpath(path))  # which does not fail for links in a circle
    if path.is_symlink() and not real.is_relative_to(os.path.realpath(path.parent)):
        raise NotARun(f"{path} leads out of its folder, to {real}")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(real, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise NotARun(f"{path} is not a regular file")
        content = file.read(limits.FILE + 1)
    if len(content) > limits.FILE:
        raise NotARun(f"{path} is larger than {limits.FILE >> 20} MB")
    return content
