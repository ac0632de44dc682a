"""The parts and parameters of a module, from where torch itself keeps them.

``module.parameters()`` may be the user's own; it is for their optimizer to call, not for us.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from whygrad.frameworks.shared.objects import (
    FRAMEWORKS,
    class_name,
    code_of,
    defines,
    is_a,
    is_of,
    is_users,
    items,
    listed,
    own,
    package_of,
    shown,
)
from whygrad.frameworks.shared.scopes import variables_of

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
    return _named(module, "_parameters")


def named_buffers(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The same for tensors that belong to it and are no parameters."""
    return _named(module, "_buffers")


def _named(module: nn.Module, registry: str) -> Iterator[tuple[str, Tensor]]:
    met = set()
    for path, part in named_modules(module):
        for name, tensor in _registered(part, registry):
            if is_a(tensor, Tensor) and id(tensor) not in met:
                met.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor


def parameters(module: nn.Module) -> list[Tensor]:
    """All parameters of a module."""
    return [tensor for _, tensor in named_parameters(module)]


def running(frame: FrameType | None) -> tuple[Any, ...]:
    """Weak references to the modules whose forward pass is running, innermost first."""
    found: list[Any] = []
    while frame is not None and len(found) < 16:
        owner = variables_of(frame).get("self") if "self" in frame.f_code.co_varnames else None
        if is_a(owner, nn.Module) and all(ref() is not owner for ref in found):
            found.append(weakref.ref(owner))
        frame = frame.f_back
    return tuple(found)


def stepper(owner: Any) -> Any:
    """The optimizer that has the parameters: a wrapper that passes as one keeps another one inside."""
    for _ in range(4):
        held = own(owner)
        inside = [v for v in held.values() if is_a(v, Optimizer)] if "param_groups" not in held else []
        if len(inside) != 1:
            break
        owner = inside[0]
    return owner


def cleared_by(owner: Any) -> list[Tensor]:
    """Whose gradients ``zero_grad`` of an optimizer or a module clears."""
    if is_module(owner):
        return parameters(owner)
    groups = listed(own(stepper(owner)).get("param_groups"))
    return [tensor for group in groups for tensor in listed(dict(items(group)).get("params"))]


def compiled(module: nn.Module) -> nn.Module | None:
    """The module that ``torch.compile`` has wrapped."""
    found = dict(_registered(module, "_modules")).get("_orig_mod", own(module).get("_orig_mod"))
    return found if is_module(found) else None


def lists_itself(module: nn.Module) -> bool:
    """Does a class of the user's say what its parameters are? Only they know."""
    return any(is_users(part, _LISTING) for _, part in named_modules(module))


def network_of(name: str, module: nn.Module, path: str) -> str:
    """The network that a parameter belongs to: a part of a module that only holds networks together."""
    here: Any = module
    for part in path.split("."):
        if not is_module(here) or not _holds_together(here):
            break
        name, here = f"{name}.{part}", dict(_registered(here, "_modules")).get(part)
    return name


def _holds_together(module: nn.Module) -> bool:
    """An agent that cannot be called, and that has networks, not layers, as its parts."""
    children = [child for _, child in _registered(module, "_modules") if is_module(child)]
    theirs = package_of(type(module)) == "torch" and class_name(module) != "ModuleDict"
    return bool(children) and not theirs and not _is_called(module) and not any(map(_is_layer, children))


def _is_called(module: nn.Module) -> bool:
    """Has it a forward pass of its own? One that only raises is none."""
    found = defines(module, "forward")
    if "forward" in own(module) or found is None:
        return True
    code = code_of(found[1])
    return found[0] is not nn.Module and not (code is not None and code.co_names == ("NotImplementedError",))


def _is_layer(module: nn.Module) -> bool:
    return package_of(type(module)) == "torch" and bool(_registered(module, "_parameters"))


def _registered(module: nn.Module, registry: str) -> list[tuple[str, Any]]:
    """What a module has registered; compiled ones (TorchScript) keep it in an object of torch's."""
    held = shown(module, registry)
    if not is_a(held, dict) and is_of(held, FRAMEWORKS):
        listed = shown(held, "items")
        held = dict(listed()) if listed is not None else {}
    return [(name, value) for name, value in items(held) if type(name) is str]
