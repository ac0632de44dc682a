"""Masks of data: is ``1 - done`` really made of zeros and ones?"""

from __future__ import annotations

import torch
from torch import Tensor

from whygrad.frameworks.shared.masks import MOST, may_be_inverted
from whygrad.frameworks.torch import native

_NOT = frozenset(("bitwise_not", "invert"))


def is_mask(name: str, numbers: tuple[float, ...]) -> bool:
    """``1 - done`` or ``~done``."""
    return name in _NOT or (name == "rsub" and numbers == (1.0,))


def holds_more(value: Tensor) -> bool:
    """Are there other numbers than 0 and 1 in a mask?"""
    if not 0 < value.numel() <= MOST or value.dtype == torch.bool or value.is_complex():
        return False
    flat = native.detach(value)
    return _any(native.both(native.unequal(flat, 0), native.unequal(flat, 1)))


def looks_inverted(value: Tensor) -> bool:
    """Two whole numbers that are not those of a mask or a sign: ``~done``, made outside of torch."""
    if not 1 < value.numel() <= MOST or value.dtype == torch.bool or value.is_complex():
        return False
    flat = native.detach(value)
    low, high = float(native.item(native.least(flat))), float(native.item(native.most(flat)))
    return may_be_inverted(low, high) and not _any(
        native.both(native.unequal(flat, low), native.unequal(flat, high))
    )


def ones_in(value: Tensor) -> tuple[int, ...]:
    """Of nothing but zeros and ones: how many ones, and of how many; nothing if there is anything else."""
    if not 0 < value.numel() <= MOST or value.is_complex():
        return ()
    flat = native.detach(value)
    ones = native.unequal(flat, 0)
    if value.dtype != torch.bool and _any(native.both(ones, native.unequal(flat, 1))):
        return ()
    return int(native.item(native.total(ones))), value.numel()


def _any(mask: Tensor) -> bool:
    return bool(native.item(native.any_of(mask)))
