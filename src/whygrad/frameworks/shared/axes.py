"""Along which dimensions an operation works, counted from the front."""

from __future__ import annotations

from collections.abc import Iterable


def counted(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """``-1`` is the last one; nothing if one of them is not there."""
    found = tuple(axis + rank if axis < 0 else axis for axis in axes)
    return found if all(0 <= axis < rank for axis in found) else ()
