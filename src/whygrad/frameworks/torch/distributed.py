"""Ranks: what has to be the same in all of them, and which gradients DDP waits for in vain."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, distributed
from torch.nn.parallel import DistributedDataParallel

from whygrad.frameworks.shared.frames import Where, locate
from whygrad.frameworks.shared.objects import is_a, own
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.torch import modules, native, private
from whygrad.model import Print

_WAITING = "Expected to have finished reduction in the prior iteration"
_MOST = 4096  # elements of a gradient
_INDICES = re.compile(r"did not receive grad for rank \d+:((?: \d+)+)")


def waited_for(error: BaseException) -> tuple[list[Tensor], Where | None]:
    """The parameters that this error speaks of by their numbers alone, and the user's line it came from."""
    numbers = _INDICES.search(str(error))
    if _WAITING not in str(error) or numbers is None:
        return [], None
    step = error.__traceback__
    while step is not None:
        module = variables_of(step.tb_frame).get("self")
        if is_a(module, DistributedDataParallel):
            known = [p for p in modules.parameters(module) if p.requires_grad]
            chosen = [known[int(n)] for n in numbers[1].split() if int(n) < len(known)]
            return chosen, locate(step.tb_frame)
        step = step.tb_next
    return [], None


def rank() -> int:
    """Of this process among those that train together; -1 where it is alone."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return -1
    return distributed.get_rank() if distributed.get_world_size() > 1 else -1


def prints(tensors: Mapping[int, Tensor], before: Mapping[int, float]) -> dict[int, Print]:
    """Of each parameter of a rank; nothing where each of them has a part only.

    ``before``: the ``sums`` after the last backward.
    """
    if not all(map(_whole, tensors.values())):
        return {}
    after = sums(tensors) if before else {}
    with private.unheard():
        return {
            key: Print(
                _length(tensor),
                _length(tensor.grad) if tensor.grad is not None else 0.0,
                before.get(key),
                after.get(key),
            )
            for key, tensor in tensors.items()
        }


def sums(tensors: Mapping[int, Tensor]) -> dict[int, float]:
    """Of the gradients: a sum of their elements, whose weights are the same in every rank.

    What is summed over ranks, or averaged, does the same to these numbers; and they hardly cancel.
    """
    if not all(map(_whole, tensors.values())):
        return {}
    with private.unheard(), torch.no_grad():
        return {key: _weighed(t.grad) for key, t in tensors.items() if t.grad is not None}


def _weighed(gradient: Tensor) -> float:
    some = native.first(gradient, _MOST).to(device="cpu", dtype=torch.float64)
    return float(native.item(native.dot(some, _weights(len(some)))))


@lru_cache(maxsize=32)
def _weights(count: int) -> Tensor:
    return torch.cos(torch.arange(1, count + 1, dtype=torch.float64))


class Reducers:
    """The modules that reduce the gradients of another one, which is in them."""

    def __init__(self) -> None:
        self._all: list[weakref.ref[Any]] = []

    def met(self, module: Any) -> None:
        """A module is put into this one."""
        if is_a(module, DistributedDataParallel) and all(ref() is not module for ref in self._all):
            self._all.append(weakref.ref(module))

    def around(self, tensors: Iterable[Tensor]) -> str:
        """Are some of these in one of them, and does it reduce just now?"""
        asked = set(map(id, tensors))
        for module in (ref() for ref in self._all):
            if module is not None and not asked.isdisjoint(map(id, modules.parameters(module))):
                return "off" if own(module).get("require_backward_grad_sync") is False else "on"
        return ""


def _whole(tensor: Tensor) -> bool:
    """Not a shard of something that lies in several processes."""
    plain = type(tensor) in (Tensor, torch.nn.Parameter) and tensor.layout == torch.strided
    return plain and tensor.is_floating_point() and (tensor.grad is None or not tensor.grad.is_sparse)


def _length(tensor: Tensor) -> float:
    return float(native.item(torch.linalg.vector_norm(native.detach(tensor), dtype=torch.float64)))
