"""What collaborators of the TensorFlow backend may ask of whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from whygrad.frameworks.shared.ports import Recording, Safety


class Thread(Protocol):
    """Of the user's program."""

    resting: int  # the framework is busy with itself, so many calls deep


class Listener(Safety, Recording, Protocol):
    """Somebody who is called back by TensorFlow, and knows when that is not the user's doing."""

    @property
    def thread(self) -> Thread:
        """The one that runs now."""

    def safely(self, note: Callable[..., Any], *arguments: Any) -> Any:
        """Our own failure is never the user's."""

    def resting(self) -> AbstractContextManager[None]:
        """What happens in here is the framework's own."""

    def is_resting(self) -> bool:
        """Is the framework busy with itself?"""
