"""The parts and parameters of a module, from where torch itself keeps them.

``module.parameters()`` may be the user's own; it is for their optimizer to call, not for us.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

from whygrad.frameworks.shared.objects import FRAMEWORKS, is_a, is_of, is_users, items, listed, own, shown

_LISTING = ("parameters", "named_parameters", "modules", "named_modules", "children", "named_children")


def is_module(value: Any) -> bool:
    """Really one: an object that only says so would have to be asked."""
    return is_a(value, nn.Module)


def named_modules(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """A module and everything in it, each of them once, with its path."""
    todo, met = [("", module)], set()
    while todo:
        path, part = todo.pop()
        if id(part) in met:
            continue
        met.add(id(part))
        yield path, part
        inner = [(name, child) for name, child in _registered(part, "_modules") if is_module(child)]
        todo.extend((f"{path}.{name}" if path else name, child) for name, child in reversed(inner))


def named_parameters(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """All parameters of a module, each of them once, with its path."""
    met = set()
    for path, part in named_modules(module):
        for name, tensor in _registered(part, "_parameters"):
            if is_a(tensor, Tensor) and id(tensor) not in met:
                met.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor


def parameters(module: nn.Module) -> list[Tensor]:
    """All parameters of a module."""
    return [tensor for _, tensor in named_parameters(module)]


def cleared_by(owner: Any) -> list[Tensor]:
    """Whose gradients ``zero_grad`` of an optimizer or a module clears."""
    if is_module(owner):
        return parameters(owner)
    groups = listed(own(owner).get("param_groups"))
    return [tensor for group in groups for tensor in listed(dict(items(group)).get("params"))]


def compiled(module: nn.Module) -> nn.Module | None:
    """The module that ``torch.compile`` has wrapped."""
    found = dict(_registered(module, "_modules")).get("_orig_mod", own(module).get("_orig_mod"))
    return found if is_module(found) else None


def lists_itself(module: nn.Module) -> bool:
    """Does a class of the user's say what its parameters are? Only they know."""
    return any(is_users(part, _LISTING) for _, part in named_modules(module))


def _registered(module: nn.Module, registry: str) -> list[tuple[str, Any]]:
    """What a module has registered; compiled ones (TorchScript) keep it in an object of torch's."""
    held = shown(module, registry)
    if not is_a(held, dict) and is_of(held, FRAMEWORKS):
        listed = shown(held, "items")
        held = dict(listed()) if listed is not None else {}
    return [(name, value) for name, value in items(held) if type(name) is str]
