"""Masks of data: is ``1 - done`` really made of zeros and ones?"""

from __future__ import annotations

import torch
from torch import Tensor

from whygrad.backends.torch.nodes import Node


def is_odd_mask(node: Node, value: Tensor) -> bool:
    """A mask (``1 - done``, ``~done``) that holds more than 0 and 1; or numbers such as 254 and 255."""
    if not 0 < value.numel() <= 65536 or value.dtype == torch.bool or value.is_complex():
        return False
    made = _mask_maker(node)
    flat = value.detach().reshape(-1).double()
    if made:
        return bool(((flat != 0) & (flat != 1)).any())
    whole = bool((flat == flat.round()).all())
    return whole and int(flat.unique().numel()) == 2 and bool((flat.abs() > 1).any()) and _one_apart(flat)


def _one_apart(flat: Tensor) -> bool:
    return float(flat.max() - flat.min()) == 1.0


def _mask_maker(node: Node) -> bool:
    """``1 - done`` or ``~done``, perhaps reshaped or cast since."""
    for _ in range(6):
        name = node.name.strip("_")
        if name in ("bitwise_not", "invert", "logical_not"):
            return True
        if name in ("rsub", "sub") and len(node.inputs) == 1 and node.numbers == (1.0,):
            return name == "rsub"
        if len(node.inputs) != 1:
            return False
        node = node.inputs[0]
    return False
