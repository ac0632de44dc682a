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
    """Two whole numbers next to each other that are not 0 and 1: ``~done``, made outside of torch."""
    if not 1 < value.numel() <= _MOST or value.dtype == torch.bool or value.is_complex():
        return False
    low, high = float(value.detach().min()), float(value.detach().max())
    if high - low != 1.0 or (low, high) == (0.0, 1.0) or low != int(low):
        return False
    return bool(((value == low) | (value == high)).all()) and (low, high) in ((254.0, 255.0), (-2.0, -1.0))
