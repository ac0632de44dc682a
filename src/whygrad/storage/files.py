"""Files from strangers, read with care."""

from __future__ import annotations

import os
from pathlib import Path

from whygrad import strangers
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
        return unpack(strangers.content(path, limits.FILE))
    except Broken as error:
        raise NotARun(f"{strangers.line(path)} {error}") from error
    except strangers.Refused as error:
        raise NotARun(str(error)) from error
    except OSError as error:
        raise NotARun(f"{strangers.line(path)} cannot be read: {error.strerror or error}") from error


def evidence_in(folder: Path) -> Path | None:
    """The evidence of a run directory; whatever stands there under its name."""
    path = folder / EVIDENCE
    return path if os.path.lexists(path) else None
