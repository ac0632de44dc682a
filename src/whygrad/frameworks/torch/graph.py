"""Questions to torch's own autograd graph: what a backward call really reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

_MOST = 200_000
#: All that a model of DistributedDataParallel returns goes through one function, each value by itself.
_ROW = "_DDPSinkBackward"


def leaves(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The leaf tensors that a backward from here writes gradients to."""
    found: list[torch.Tensor] = []
    todo: list[Any] = []
    for tensor in tensors:
        if tensor.grad_fn is not None:
            todo.append((tensor.grad_fn, tensor.output_nr))
        elif tensor.requires_grad:
            found.append(tensor)
    seen = {_seen(*one) for one in todo}
    while todo and len(seen) < _MOST:
        function, output = todo.pop()
        variable = getattr(function, "variable", None)
        if variable is not None:
            found.append(variable)
        edges = function.next_functions
        if type(function).__name__ == _ROW and output < len(edges):
            edges = edges[output : output + 1]
        for parent, number in edges:
            if parent is not None and _seen(parent, number) not in seen:
                seen.add(_seen(parent, number))
                todo.append((parent, number))
    return found


def _seen(function: Any, output: int) -> Any:
    return (function, output) if type(function).__name__ == _ROW else function
