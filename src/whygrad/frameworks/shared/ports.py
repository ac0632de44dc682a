"""What collaborators may ask of whoever watches: a few narrow questions, and never the whole of it."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Protocol

from whygrad.frameworks.shared.nodes import Param


class Safety(Protocol):
    """Somebody who steps aside when something of ours fails, and knows in which process it watches."""

    aside: str
    pid: int

    def stepped_aside(self, error: BaseException) -> None:
        """Our own failure."""


class Naming(Protocol):
    """Somebody who knows the user's variables."""

    def name_new_things(self, params: Iterable[Param], frame: FrameType) -> None:
        """Look for names if there is somebody whom no earlier look was for."""

    def name_things(self, frame: FrameType | None) -> None:
        """Look for names."""


class Recording(Protocol):
    """Somebody who knows whether this piece of code is recorded."""

    def recording(self) -> bool:
        """Is it?"""


class Window(Recording, Protocol):
    """Somebody who opens and closes windows of recording."""

    @property
    def is_open(self) -> bool:
        """Is there something to close?"""

    def open_window(self) -> None:
        """Record from now on."""

    def close_window(self) -> None:
        """Enough for now."""
