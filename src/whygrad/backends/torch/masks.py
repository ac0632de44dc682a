"""Masks of data: is ``1 - done`` really made of zeros and ones?"""

from __future__ import annotations

import torch
from torch import Tensor

_MOST = 65536
_NOT = frozenset(("bitwise_not", "invert"))


def is_mask(name: str, numbers: tuple[float, ...]) -> bool:
    """``1 - done`` or ``~done``."""
    return name in _NOT or (name == "rsub" and numbers == (1.0,))


def holds_more(value: Tensor) -> bool:
    """Are there other numbers than 0 and 1 in a mask?"""
    if not 0 < value.numel() <= _MOST or value.dtype == torch.bool or value.is_complex():
        return False
    flat = value.detach()
    return bool(((flat != 0) & (flat != 1)).any())


def looks_inverted(value: Tensor) -> bool:
    """Two whole numbers that are not those of a mask or a sign: ``~done``, made outside of torch."""
    if not 1 < value.numel() <= _MOST or value.dtype == torch.bool or value.is_complex():
        return False
    low, high = float(value.detach().min()), float(value.detach().max())
    if not abs(low) < 1e6 > abs(high) or low != int(low) or high != int(high) or low == high:
        return False
    if (low, high) in ((0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0)):
        return False
    return bool(((value == low) | (value == high)).all())
