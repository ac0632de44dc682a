"""Questions to torch's own autograd graph: what a backward call really reaches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

_MOST = 200_000


def leaves(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The leaf tensors that a backward from here writes gradients to."""
    found: list[torch.Tensor] = []
    todo: list[Any] = []
    for tensor in tensors:
        if tensor.grad_fn is not None:
            todo.append(tensor.grad_fn)
        elif tensor.requires_grad:
            found.append(tensor)
    seen = set(todo)
    while todo and len(seen) < _MOST:
        function = todo.pop()
        variable = getattr(function, "variable", None)
        if variable is not None:
            found.append(variable)
        for parent, _ in function.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return found
