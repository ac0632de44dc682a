"""How many groups of rewards have no spread."""

from __future__ import annotations

from torch import Tensor

from whygrad.frameworks.shared.groups import Grouping
from whygrad.frameworks.torch import native, private


def empty_ones(value: Tensor, grouping: Grouping) -> tuple[int, int] | None:
    """The groups in which all numbers are the same, and all groups; nothing where that cannot be told."""
    if value.is_complex():
        return None
    try:
        with private.unheard():
            grouped = native.reshape(native.detach(value), grouping.shape)
            least, most = (
                native.least_along(grouped, grouping.axes),
                native.most_along(grouped, grouping.axes),
            )
            spread = native.unequal(least, most)
            return spread.numel() - int(native.item(native.total(spread))), spread.numel()
    except (RuntimeError, NotImplementedError):  # a fake tensor has no values
        return None
