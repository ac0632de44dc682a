"""What a stream can show: colour, and how wide. Apart from writing, so that listing imports little."""

from __future__ import annotations

import contextlib
import os
from typing import TextIO


def color_for(stream: TextIO) -> bool:
    """Colour on a terminal, unless ``NO_COLOR``; ``FORCE_COLOR`` wants it everywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    with contextlib.suppress(Exception):
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    return False


def width_of(stream: TextIO) -> int:
    """How wide to write: as the terminal is, within reason."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return max(60, min(int(columns), 120))
    with contextlib.suppress(Exception):
        return max(60, min(os.get_terminal_size(stream.fileno()).columns, 120))
    return 100
