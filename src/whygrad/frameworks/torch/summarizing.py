"""One summary that a program asks for itself: a module or an optimizer, as it is now."""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from whygrad.frameworks.protocol import Subject
from whygrad.frameworks.shared.scopes import variables
from whygrad.frameworks.torch.asking import parameters_of
from whygrad.frameworks.torch.names import Names
from whygrad.frameworks.torch.summaries import rate_of, tensors_of


def understands(thing: Any) -> bool:
    """Is this one of torch's?"""
    first = thing[0] if isinstance(thing, (list, tuple)) and thing else thing
    return isinstance(first, (torch.nn.Module, torch.optim.Optimizer, torch.Tensor))


def subject(thing: Any, gradients: Any, frame: FrameType | None, named: bool) -> Subject:
    """Its parameters and their gradients; names are looked up only if nobody knows them yet (``named``)."""
    parameters = parameters_of(thing)
    given = [p.grad for p in parameters] if gradients is None else list(gradients)
    name, names = ("", []) if named else _names(thing, parameters, frame)
    return Subject(
        key=tuple(map(id, parameters)),
        name=name,
        names=names,
        gradients=tensors_of(given),
        variables=tensors_of(list(parameters)),
        rate=rate_of(thing) if isinstance(thing, torch.optim.Optimizer) else float("nan"),
    )


def _names(thing: Any, parameters: dict[torch.Tensor, str], frame: FrameType | None) -> tuple[str, list[str]]:
    """As the caller calls them."""
    known = Names()
    for scope in variables({}, frame):
        known.walk(scope)
    names = [known.tensors[id(p)].name if id(p) in known.tensors else text for p, text in parameters.items()]
    name = known.optimizers.get(id(thing)) or known.modules.get(id(thing)) or type(thing).__name__
    return name, names
