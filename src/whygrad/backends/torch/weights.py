"""Have the values of a parameter changed?"""

from __future__ import annotations

import torch
from torch import Tensor

from whygrad.backends.recording.nodes import Param


def fingerprint(tensor: Tensor) -> float | None:
    """A number that changes when the values do."""
    if tensor.is_complex():
        return None
    try:
        return float(tensor.detach().sum(dtype=torch.float64))
    except RuntimeError:  # a fake tensor has no values
        return None


def has_moved(param: Param) -> bool:
    """Are its values others than at its first use? Yes, where that cannot be told."""
    tensor = param.ref()
    if param.trained or tensor is None or param.print is None:
        return True
    return fingerprint(tensor) != param.print
