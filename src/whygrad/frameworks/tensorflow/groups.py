"""How many groups of rewards have no spread. Of eager values; those of compiled code are not known."""

from __future__ import annotations

from typing import Any

from whygrad.frameworks.shared.groups import Grouping
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.tensorflow import private


def empty_ones(tensor: Any, grouping: Grouping) -> tuple[int, int] | None:
    """The groups in which all numbers are the same, and all groups; nothing where that cannot be told."""
    values = private.contents(tensor) if is_a(tensor, private.EAGER_TENSOR) else None
    if values is None or values.dtype.kind != "f":
        return None
    grouped = values.reshape(grouping.shape)
    spread = grouped.min(axis=grouping.axes) != grouped.max(axis=grouping.axes)
    return int(spread.size - spread.sum()), int(spread.size)
