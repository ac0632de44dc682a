"""What is in groups of rewards. Of eager values; those of compiled code are not known."""

from __future__ import annotations

from typing import Any

from whygrad.frameworks.shared.groups import Grouping
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.tensorflow import private


def extremes(tensor: Any, grouping: Grouping) -> tuple[list[float], list[float]] | None:
    """The least and the most of each group; nothing where that cannot be told."""
    values = private.contents(tensor) if is_a(tensor, private.EAGER_TENSOR) else None
    if values is None or values.dtype.kind != "f":
        return None
    grouped = values.reshape(grouping.shape)
    least, most = grouped.min(axis=grouping.axes), grouped.max(axis=grouping.axes)
    return least.ravel().tolist(), most.ravel().tolist()
