"""The few places of a framework that have no public hook, replaced for the time of the run and put back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from whygrad.doors import door


class Patches:
    """Replaced attributes; ``restore`` puts back exactly what was found."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace ``owner.name`` by ``make(original)``; nothing if this version of the framework has none."""
        original = vars(owner).get(name)
        if original is None:
            return
        replacement = make(original)
        if not isinstance(replacement, (property, staticmethod)):
            self._dress(replacement, original, name)
        self._undo.append((owner, name, original, replacement))
        setattr(owner, name, replacement)

    def _dress(self, replacement: Any, original: Any, name: str) -> None:
        """It looks like the original to whoever asks."""
        replacement.__name__ = name
        replacement.__qualname__ = getattr(original, "__qualname__", name)
        replacement.__doc__ = original.__doc__
        replacement.__module__ = getattr(original, "__module__", None)
        replacement.__wrapped__ = original

    def undo(self, owner: Any, name: str) -> None:
        """Put one of them back."""
        for patch in [p for p in self._undo if p[0] is owner and p[1] == name]:
            self._undo.remove(patch)
            if vars(owner).get(name) is patch[3]:
                setattr(owner, name, patch[2])

    def restore(self) -> bool:
        """Undo in reverse order; a place that somebody else has patched on top since is left alone: false."""
        all_of_them = True
        while self._undo:
            owner, name, original, replacement = self._undo.pop()
            if vars(owner).get(name) is replacement:
                setattr(owner, name, original)
            else:
                all_of_them = False
        return all_of_them


def afterwards(
    note: Callable[[Any, FrameType], object], lost: Callable[[Exception], None]
) -> Callable[[Any], Any]:
    """Replaces a method that is not called often: when it has run, its object and its caller are noted."""

    def make(original: Any) -> Any:
        @door
        def method(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            try:
                note(args[0], sys._getframe(1))
            except Exception as error:
                lost(error)
            return result

        return method

    return make
