"""What the user calls things: ``actor.net.0.weight``, with ``actor`` a name in their own script."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from whygrad.backends.recording.nodes import Param
from whygrad.backends.recording.scopes import is_plain, parts
from whygrad.backends.torch import graph

_MOST = 20_000
_WIDE = 256
_DEEP = 6
_REGISTRIES = frozenset(("_parameters", "_modules", "_buffers", "training"))


@dataclass(frozen=True, slots=True)
class Name:
    """Where a tensor was found."""

    name: str
    network: str
    untracked_in: str = ""
    how: str = ""


class Names:
    """A walk through the user's own variables that remembers what it met."""

    def __init__(self) -> None:
        self.tensors: dict[int, Name] = {}
        self.called: dict[frozenset[int], dict[str, None]] = {}  # parameters -> names
        self.optimizers: dict[int, str] = {}
        self.modules: dict[int, str] = {}
        self._seen: set[int] = set()

    def walk(self, roots: Iterable[tuple[str, Any]]) -> None:
        """Look at these variables and at what they hold, nearest first."""
        todo = deque((name, value, 0, "", "", "") for name, value in roots)
        while todo and len(self._seen) < _MOST:
            name, value, depth, network, holder, how = todo.popleft()
            if isinstance(value, torch.Tensor):
                self._tensor(name, value, network, holder, how)
                continue
            if isinstance(value, torch.nn.Module) and len(self.called) < _WIDE:
                held = frozenset(map(id, value.parameters()))
                self.called.setdefault(held, {})[name] = None
            if (
                id(value) in self._seen
                or value is None
                or isinstance(value, (str, int, float, type, ModuleType))
            ):
                continue
            self._seen.add(id(value))
            if isinstance(value, torch.optim.Optimizer):
                self.optimizers.setdefault(id(value), name)
            elif isinstance(value, torch.nn.Module):
                self._module(name, value, network, holder, how)
                for attribute, held, kind in _untracked(value):
                    todo.append((f"{name}{attribute}", held, depth + 1, network or name, name, kind))
            elif depth < _DEEP:
                for part, held in parts(value):
                    todo.append((f"{name}{part}", held, depth + 1, network, holder, how))

    def _tensor(self, name: str, tensor: torch.Tensor, network: str, holder: str, how: str) -> None:
        if not tensor.requires_grad and not isinstance(tensor, torch.nn.Parameter):
            return
        if not tensor.is_leaf:
            if not holder or how != "attribute":
                return
            for leaf in graph.leaves([tensor]):  # nn.Parameter(...).float(): a copy is held, not the leaf
                self.tensors.setdefault(id(leaf), Name(name, network, holder, "non-leaf"))
            return
        self.tensors.setdefault(id(tensor), Name(name, network or name, holder, how))

    def _module(self, name: str, module: torch.nn.Module, network: str, holder: str, how: str) -> None:
        inner = getattr(module, "_orig_mod", None)  # torch.compile wraps; the user's name is the outer one
        if isinstance(inner, torch.nn.Module):
            module, how = inner, "compiled"
        for path, child in module.named_modules():
            self.modules.setdefault(id(child), f"{name}.{path}" if path else name)
            self._seen.add(id(child)) if child is not module else None
        for path, parameter in module.named_parameters():
            found = Name(f"{name}.{path}", network or name, holder, how)
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
                param.seen = True
                param.name, param.network = found.name, found.network
                param.untracked_in, param.untracked_how = found.untracked_in, found.how
                param.captured = found.how == "compiled"
                self._outside_its_module(param, tensor)

    def aliases(self, params: Iterable[Param]) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Modules that go by several names: ``target = online``."""
        keys = {id(t): p.key for p in params if (t := p.ref()) is not None}
        return [
            (tuple(called), tuple(keys[i] for i in held if i in keys))
            for held, called in self.called.items()
            if held and len({name.rpartition(".")[2] for name in called}) > 1
        ]

    def _outside_its_module(self, param: Param, tensor: Any) -> None:
        """Used in the forward pass of a module that does not list it among its parameters?"""
        if param.untracked_in or not param.modules:
            return
        for ref in param.modules:
            module = ref()
            if module is None or type(module).__module__.startswith("torch."):
                continue
            if not any(p is tensor for p in module.parameters()):
                param.untracked_in = self.modules.get(id(module), type(module).__name__)
                param.untracked_how = "outside the module"
            return


def _untracked(module: torch.nn.Module) -> Iterator[tuple[str, Any, str]]:
    """What a module and its children hold outside ``parameters()``."""
    for path, child in module.named_modules():
        prefix = f".{path}" if path else ""
        for attribute, value in list(vars(child).items()):
            if attribute in _REGISTRIES or attribute.startswith("_"):
                continue
            if isinstance(value, (list, tuple)):
                yield f"{prefix}.{attribute}", value, "plain list"
            elif isinstance(value, dict):
                yield f"{prefix}.{attribute}", value, "plain dict"
            elif isinstance(value, (torch.Tensor, torch.optim.Optimizer)) or is_plain(value):
                yield f"{prefix}.{attribute}", value, "attribute"
