"""Along which dimensions an operation of TensorFlow works: that is a tensor among its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whygrad.frameworks.shared.axes import counted

_LAST = frozenset(("Softmax", "LogSoftmax"))  # always over the last one
_SECOND = frozenset(("Sum", "Mean", "Max", "Min", "ArgMax", "ArgMin", "Transpose"))  # as their second input


def axes_of(op_type: str, inputs: Sequence[Any], contents: Callable[[Any], Any]) -> tuple[int, ...]:
    """The dimensions; of a transposition, where each one comes from; nothing if they are not known yet."""
    if op_type not in _SECOND and op_type not in _LAST:
        return ()
    rank = inputs[0].shape.rank
    if not rank:
        return ()
    if op_type in _LAST:
        return (rank - 1,)
    found: Any = contents(inputs[1]) if len(inputs) > 1 else None
    return counted(map(int, found.ravel()), rank) if hasattr(found, "ravel") else ()
