"""Copies of parameters that are no parameters: ``{name: p.detach().clone() ...}`` for ``functional_call``.

One that a layer is given for its weight is a network's weight: a parameter that does not learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from whygrad.frameworks.shared.copies import Copies
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.torch.vocabulary import SAME_VALUE

LAYERS = frozenset(
    ("linear", "bilinear", "embedding", "conv1d", "conv2d", "conv3d", "layer_norm", "addmm", "baddbmm")
)
_COPYING = SAME_VALUE | {"clone", "to", "contiguous", "cpu", "cuda", "stack"}
_FAR = 8


def origin_of(tensor: Tensor, node: Node | None) -> Param | None:
    """The parameter that this value was copied from, whole, to be kept: it is none itself."""
    if node is None or node.parameter is not None or node.carries or not tensor.is_leaf:
        return None
    copied = False
    for _ in range(_FAR):
        if node.parameter is not None:
            return node.parameter if copied else None
        if not node.inputs or node.name not in _COPYING:
            return None
        copied = copied or node.name in ("clone", "stack")
        node = node.inputs[0]
    return None


def adopt(recorder: Any, arguments: Sequence[Any], copies: Copies) -> None:
    """Make parameters of such copies among the arguments of a layer."""
    for value in arguments:
        node = recorder.table.get(value) if is_a(value, Tensor) else None
        origin = origin_of(value, node)
        if origin is None or node is None:
            continue
        recorder.table.put(value, Node("parameter", (), node.where, False))
        made = (node.where, *node.where.outer) if node.where is not None else ()
        param = recorder.param(value, made)
        param.proper, param.copied_from, param.adopted = True, origin, True
        if origin.shape == param.shape:
            copies.add(origin, param, node.where, "clone", 1.0)
