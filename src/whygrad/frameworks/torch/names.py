"""What the user calls things: ``actor.net.0.weight``, with ``actor`` a name in their own script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from whygrad.frameworks.shared.naming import DEEP, WIDE, Aliases, Name, Todo, Walk, aliases, together
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.objects import attributes, class_name, is_a, package_of
from whygrad.frameworks.shared.scopes import is_opaque, is_plain, parts
from whygrad.frameworks.torch import graph, modules

_REGISTRIES = frozenset(("_parameters", "_modules", "_buffers", "training"))


class Names(Walk):
    """Of tensors, modules and optimizers."""

    def __init__(self, wanted: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self._wanted = wanted  # what else has a name: who makes updates by hand, copies of parameters
        self.tensors: dict[int, Name] = {}
        self.called: dict[frozenset[int], dict[str, None]] = {}  # parameters -> names
        self.modules: dict[int, str] = {}

    def _met(self, name: str, value: Any, depth: int, network: str, holder: str, how: str) -> list[Todo]:
        """Remember it if it is one of ours; what it holds is to be looked at next."""
        if is_a(value, torch.Tensor):
            self._tensor(name, value, network, holder, how)
            return []
        if modules.is_module(value) and len(self.called) < WIDE:
            called = frozenset(map(id, modules.parameters(value)))
            self.called.setdefault(called, {})[name] = None
        if id(value) in self._seen or is_opaque(value):
            return []
        self._seen.add(id(value))
        if id(value) in self._wanted:
            self.optimizers.setdefault(id(value), name)
        if is_a(value, torch.optim.Optimizer):
            self.optimizers.setdefault(id(value), name)
        elif modules.is_module(value):
            self._module(name, value, network, holder, how)
            return [
                (f"{name}{attribute}", held, depth + 1, network or name, name, kind)
                for attribute, held, kind in _untracked(value)
            ]
        elif depth < DEEP:
            inside = list(parts(value))
            whole = together(value, name, ((is_a(v, torch.Tensor), modules.is_module(v)) for _, v in inside))
            network = network or whole
            return [(f"{name}{part}", held, depth + 1, network, holder, how) for part, held in inside]
        return []

    def _tensor(self, name: str, tensor: torch.Tensor, network: str, holder: str, how: str) -> None:
        if not (tensor.requires_grad or isinstance(tensor, torch.nn.Parameter) or id(tensor) in self._wanted):
            return
        if not tensor.is_leaf:
            if not holder or how != "attribute":
                return
            for leaf in graph.leaves([tensor]):  # nn.Parameter(...).float(): a copy is held, not the leaf
                self.tensors.setdefault(id(leaf), Name(name, network, holder, "non-leaf"))
            return
        self.tensors.setdefault(id(tensor), Name(name, network or name, holder, how))

    def _module(self, name: str, module: torch.nn.Module, network: str, holder: str, how: str) -> None:
        inner = modules.compiled(module)  # the user's name is the outer one
        if inner is not None:
            module, how = inner, "compiled"
        for path, child in modules.named_modules(module):
            self.modules.setdefault(id(child), f"{name}.{path}" if path else name)
            self._seen.add(id(child)) if child is not module else None
        kept = [found for found in modules.named_buffers(module) if id(found[1]) in self._wanted]
        for path, buffer in kept:
            owner = f"{name}.{path.partition('.')[0]}"
            self.tensors.setdefault(id(buffer), Name(f"{name}.{path}", owner, holder, how))
        for path, parameter in modules.named_parameters(module):
            owner = network or modules.network_of(name, module, path)
            found = Name(f"{name}.{path}", owner, holder, how)
            known = self.tensors.get(id(parameter))
            if known is None or (known.untracked_in and not holder) or (known.how == "compiled" and not how):
                self.tensors[id(parameter)] = found

    # -- what was found -----------------------------------------------------------------------------

    def give(self, params: Iterable[Param], in_scope: bool) -> None:
        """Name parameters; ``in_scope`` if the walk saw the function that is running, which knows best."""
        for param in params:
            tensor = param.ref()
            found = self.tensors.get(id(tensor)) if tensor is not None else None
            if in_scope:
                param.seen = found is not None
            if found is not None and (in_scope or not param.name):
                found.give(param)
                param.captured = found.how == "compiled"
                self._outside_its_module(param, tensor)
            if not in_scope and not param.name and tensor is not None:
                self._by_its_class(param, tensor)

    def _by_its_class(self, param: Param, tensor: Any) -> None:
        """Nobody has a name for it: ``Actor.mu.weight``, of the module that uses it."""
        for ref in param.modules or ():
            module = ref()
            if module is None or package_of(type(module)) == "torch":
                continue
            path = next((path for path, held in modules.named_parameters(module) if held is tensor), "")
            if path:
                param.network, param.name = class_name(module), f"{class_name(module)}.{path}"
                return

    def aliases(self, params: Iterable[Param]) -> Aliases:
        """Modules that go by several names."""
        keys = {id(t): p.key for p in params if (t := p.ref()) is not None}
        called = (
            (names, [keys[i] for i in held if i in keys]) for held, names in self.called.items() if held
        )
        return aliases(called)

    def _outside_its_module(self, param: Param, tensor: Any) -> None:
        """Used in the forward pass of a module that does not list it among its parameters?"""
        if param.untracked_in or not param.modules:
            return
        for ref in param.modules:
            module = ref()
            if module is None or package_of(type(module)) == "torch":
                continue
            if not any(p is tensor for p in modules.parameters(module)) and not modules.lists_itself(module):
                param.untracked_in = self.modules.get(id(module), class_name(module))
                param.untracked_how = "outside the module"
            return


def _untracked(module: torch.nn.Module) -> Iterator[tuple[str, Any, str]]:
    """What a module and its children hold outside ``parameters()``."""
    for path, child in modules.named_modules(module):
        prefix = f".{path}" if path else ""
        for attribute, value in attributes(child):
            if attribute in _REGISTRIES or attribute.startswith("_"):
                continue
            if is_a(value, list, tuple):
                yield f"{prefix}.{attribute}", value, "plain list"
            elif is_a(value, dict):
                yield f"{prefix}.{attribute}", value, "plain dict"
            elif is_a(value, torch.Tensor, torch.optim.Optimizer):
                yield f"{prefix}.{attribute}", value, "attribute"
            elif is_plain(value):
                yield f"{prefix}.{attribute}", value, "plain object"
