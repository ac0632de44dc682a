"""Optimizers that are given no parameters: whose list was it, and why was there nothing in it?"""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any, NamedTuple

from torch import nn

from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.torch import modules
from whygrad.frameworks.torch.names import Names

_DEEP = 4  # iterators around iterators
_MESSAGE = "empty parameter list"


class Asked(NamedTuple):
    """What an optimizer was given, looked at before it was walked."""

    module: nn.Module | None = None  # the one whose parameters they are
    used_up: bool = False  # an iterator that has nothing left


def says(error: ValueError) -> bool:
    """Is this what torch says of an empty list?"""
    return any(type(part) is str and _MESSAGE in part for part in error.args)


def asked_of(given: Any) -> Asked:
    """The module whose ``parameters()`` these are, through filters and generator expressions."""
    for _ in range(_DEEP):
        if type(given) is filter:
            given = _filtered(given)
            continue
        if type(given) is not GeneratorType:
            break
        if given.gi_frame is None:
            return Asked(used_up=True)
        names = given.gi_frame.f_locals
        if modules.is_module(names.get("self")):
            return Asked(names["self"])
        given = names.get(".0")
    return Asked()


def _filtered(given: Any) -> Any:
    """What goes into a filter."""
    parts = filter.__reduce__(given)
    return parts[1][1] if isinstance(parts, tuple) and len(parts[1]) > 1 else None


def candidates(asked: Asked, params: Iterable[Param], held: set[int]) -> list[Param]:
    """Everything that belongs to the module, listed by it or not; of no module: all that nobody holds."""
    living = [(param, param.ref()) for param in params]
    if asked.module is None:
        return [p for p, tensor in living if tensor is not None and p.proper and p.key not in held]
    names = Names()
    names.walk([("module", asked.module, 0)])
    return [p for p, tensor in living if tensor is not None and id(tensor) in names.tensors]
