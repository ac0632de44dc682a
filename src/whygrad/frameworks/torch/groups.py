"""What is in groups of rewards."""

from __future__ import annotations

from torch import Tensor

from whygrad.frameworks.shared.groups import Grouping
from whygrad.frameworks.torch import native, private


def extremes(value: Tensor, grouping: Grouping) -> tuple[list[float], list[float]] | None:
    """The least and the most of each group; nothing where that cannot be told."""
    if value.is_complex():
        return None
    try:
        with private.unheard():
            grouped = native.reshape(native.detach(value), grouping.shape)
            least, most = (
                native.least_along(grouped, grouping.axes),
                native.most_along(grouped, grouping.axes),
            )
            return native.numbers(least, least.numel()), native.numbers(most, most.numel())
    except (RuntimeError, NotImplementedError):  # a fake tensor has no values
        return None
