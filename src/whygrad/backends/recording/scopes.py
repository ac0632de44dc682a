"""The variables of a running function, read without leaving a trace."""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame.

    Python before 3.13 keeps the dict that it hands out, and with it every tensor in there: it is emptied
    again, unless somebody else has asked for it too.
    """
    kept = frame.f_locals
    found = dict(kept)
    of_a_function = frame.f_code.co_flags & CO_OPTIMIZED
    if sys.version_info < (3, 13) and of_a_function and sys.getrefcount(kept) <= 3:
        kept.clear()
    return found
