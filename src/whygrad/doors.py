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
