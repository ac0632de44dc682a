"""Torch's own methods, as they are in C: what a program has put into ``torch.Tensor`` is for itself alone.

``native.detach(tensor)`` instead of ``tensor.detach()``, wherever we look at a tensor of the program: a
method that it has replaced, to count or to print something, is not run by us.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from whygrad.frameworks.torch import private

_Base = private.TENSOR  # nobody can change this one

absolute, all_of, any_of, clone = _Base.abs, _Base.all, _Base.any, _Base.clone
detach, dot, item, minus, total = _Base.detach, _Base.dot, _Base.item, _Base.sub, _Base.sum
both, least, most, unequal = _Base.logical_and, _Base.min, _Base.max, _Base.ne
least_along, most_along, reshape = _Base.amin, _Base.amax, _Base.reshape


def first(tensor: Tensor, count: int) -> Tensor:
    """The first elements, flat, without history."""
    return _Base.__getitem__(_Base.reshape(_Base.detach(tensor), (-1,)), slice(count))


def numbers(tensor: Tensor, count: int) -> list[Any]:
    """The same as plain numbers."""
    return _Base.tolist(first(tensor, count))
