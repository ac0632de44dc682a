"""Doors: the functions of ours that the user's program, its framework or Python itself calls into.

The law of a door: it calls the original exactly once, with the arguments that it was given; what the original
raises passes through as it is; and everything else in it stands in a ``try`` whose ``except Exception`` lets
the observer step aside. There the original is never called: what it raises is not ours to catch.

That costs nothing as long as nothing is raised, and no further Python call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def door(function: Function) -> Function:
    """Marks a function that obeys the law; tests find those that are not marked, and those that break it."""
    return function


def nothing(*args: Any) -> None:
    """What a hook of ours does in the eyes of a compiler that reads it."""


def read_as(original: Callable[..., Any], call: Function, reads: Callable[[], bool]) -> Function:
    """Forwards to the door ``call``; to a compiler that reads it (``reads``) it is the original, no more."""

    @door
    def forwarded(*args: Any, **kwargs: Any) -> Any:
        if reads():
            return original(*args, **kwargs)
        return call(*args, **kwargs)

    return forwarded  # type: ignore[return-value]
