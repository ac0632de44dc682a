"""Have the values of a parameter changed? What is in a few numbers?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.torch import native
from whygrad.frameworks.torch.tracing import alone, traced

_MOST = 65_536  # elements: a copy of another network changes nearly all


def fingerprint(tensor: Tensor) -> float | None:
    """A number that changes when the values do."""
    if traced() or tensor.is_complex() or tensor.layout != torch.strided:
        return None
    try:
        with alone():
            return float(native.item(native.total(native.first(tensor, _MOST), dtype=torch.float64)))
    except RuntimeError:  # a fake tensor has no values
        return None


def row(value: Any, most: int) -> list[Any] | None:
    """What is in a row or column of numbers, or in a table of them."""
    if not is_a(value, Tensor) or traced() or value.is_complex() or value.layout != torch.strided:
        return None
    long = value.numel()
    if not 1 < long <= most or value.dim() not in (1, 2):
        return None
    try:
        with alone():
            return native.numbers(value, most)
    except RuntimeError:  # a fake tensor has no values
        return None
