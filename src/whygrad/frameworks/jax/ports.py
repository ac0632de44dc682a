"""What the collaborators of this backend may ask of the observer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from whygrad.frameworks.shared.ports import Recording, Safety


class Thread(Protocol):
    """What is kept for each thread."""

    resting: int
    updating: int


class Listener(Safety, Recording, Protocol):
    """Somebody who is told what happens, and who is never harmed by it."""

    @property
    def thread(self) -> Any:
        """Of the thread that asks."""

    def safely(self, note: Callable[..., Any], *arguments: Any) -> Any:
        """Our own failure is never the user's."""
