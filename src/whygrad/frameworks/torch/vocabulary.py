"""What calls of torch are called, and what is among their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor

from whygrad.frameworks.shared.objects import is_a, items, listed, plain_number

MOODY = frozenset(  # layers that compute something else in training than in evaluation
    ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "batch_norm")
)
ARITHMETIC = frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "truediv",
        "radd",
        "rsub",
        "rmul",
        "rtruediv",
        "lerp",
        "pow",
        "multiply",
        "iadd",
        "isub",
        "imul",
        "itruediv",
        "rdiv",
        "clamp",
        "clip",
        "clamp_min",
        "clamp_max",
        "subtract",
        "true_divide",
        "divide",
        "bitwise_not",
        "invert",
    ]
)
SHAPED_LIKE = frozenset(("expand_as", "view_as", "reshape_as", "type_as"))  # nothing but a shape is taken
SAME_VALUE = frozenset(("data", "detach", "view", "reshape", "flatten", "expand", "view_as", "squeeze"))


def numbers_in(arguments: Sequence[Any]) -> tuple[float, ...]:
    """The plain numbers among the arguments of a call."""
    found = (plain_number(a) for a in arguments)
    return tuple(number for number in found if number is not None)


def is_in_place(name: str) -> bool:
    """``add_``, ``copy_``, ``x[i] = ...``, ``x += ...``."""
    if name.endswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and name not in ("__invert__", "__index__"))
    return name.endswith("_")


def tensors_in(values: Any, depth: int = 3) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists and dicts."""
    held = [value for _, value in items(values)] if is_a(values, dict) else listed(values)
    for value in held:
        if is_a(value, Tensor):
            yield value
        elif depth and is_a(value, list, tuple, dict):
            yield from tensors_in(value, depth - 1)
