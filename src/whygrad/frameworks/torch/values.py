"""What is in a tensor: looked at only where something is wrong."""

from __future__ import annotations

import torch
from torch import Tensor

from whygrad.frameworks.torch import native, private
from whygrad.model import Values

_MOST = 1 << 22  # a larger tensor is looked at in its first part


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """The shape of a tensor; a lazy parameter has none yet, a nested tensor never."""
    try:
        return tuple(tensor.shape)
    except RuntimeError:
        return ()


def values_of(tensor: Tensor) -> Values | None:
    """The extremes of a tensor; nothing for what has no such numbers."""
    if not tensor.is_floating_point() or not tensor.numel() or tensor.layout != torch.strided:
        return None
    with private.unheard():
        flat = native.first(tensor, _MOST)
        try:
            least, most = (float(native.item(v)) for v in torch.aminmax(flat))
            nearest = float(native.item(native.least(native.absolute(flat))))
        except (RuntimeError, NotImplementedError):  # a fake tensor has no values
            return None
    return Values(least, most, nearest)


def scalar(tensor: Tensor) -> float | None:
    """The value of a loss."""
    if tensor.numel() != 1 or tensor.is_complex():
        return None
    try:
        with private.unheard():
            return float(native.item(tensor))
    except (RuntimeError, NotImplementedError):
        return None
