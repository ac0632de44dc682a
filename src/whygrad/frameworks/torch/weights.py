"""Have the values of a parameter changed?"""

from __future__ import annotations

import torch
from torch import Tensor

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
