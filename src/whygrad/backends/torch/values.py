"""What is in a tensor: looked at only where something is wrong."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from whygrad.backends.recording.nodes import Node, Table, cone
from whygrad.model import Values

_MOST = 1 << 22  # a larger tensor is looked at in its first part


def values_of(tensor: Tensor) -> Values | None:
    """The extremes of a tensor; nothing for what has no such numbers."""
    if not tensor.is_floating_point() or not tensor.numel() or tensor.layout != torch.strided:
        return None
    with torch._C.DisableTorchFunction():
        flat = tensor.detach().reshape(-1)[:_MOST]
        try:
            least, most = (float(v) for v in torch.aminmax(flat))
            nearest = float(flat.abs().min())
        except (RuntimeError, NotImplementedError):  # a fake tensor has no values
            return None
    return Values(least, most, nearest)


def scalar(tensor: Tensor) -> float | None:
    """The value of a loss."""
    if tensor.numel() != 1 or tensor.is_complex():
        return None
    try:
        with torch._C.DisableTorchFunction():
            return float(tensor.detach())
    except (RuntimeError, NotImplementedError):
        return None


def look_back(table: Table, roots: Iterable[Node]) -> None:
    """A loss is not finite: look at every value behind it that is still alive."""
    living = table.living()
    for node in cone(roots):
        tensor = living.get(node)
        if tensor is not None and node.values is None:
            node.values = values_of(tensor)
