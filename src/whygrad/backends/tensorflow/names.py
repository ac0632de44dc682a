"""What the user calls things: ``actor.hidden.kernel``, with ``actor`` a name in their own script."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import tensorflow as tf

from whygrad.backends.recording.scopes import is_plain, parts
from whygrad.backends.tensorflow.variables import Variables, handle_of

_MOST = 20_000
_DEEP = 6
_WIDE = 256


@dataclass(frozen=True, slots=True)
class Name:
    """Where a variable was found."""

    name: str
    network: str
    untracked_in: str = ""
    how: str = ""


class Names:
    """A walk through the user's own variables that remembers what it met."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self.found: dict[int, Name] = {}  # by handle
        self.optimizers: dict[int, str] = {}
        self._objects: dict[int, Any] = {}  # handle -> the variable, as the user or Keras holds it
        self._layers: dict[int, Any] = {}  # handle -> the layer that made it
        self._seen: set[int] = set()
        self._called: dict[int, tuple[Any, dict[str, None]]] = {}  # models, with all their names

    def walk(self, roots: Iterable[tuple[str, Any]]) -> None:
        """Look at these variables and at what they hold, nearest first."""
        todo = deque((name, value, 0, "", "", "") for name, value in roots)
        while todo and len(self._seen) < _MOST:
            name, value, depth, network, holder, how = todo.popleft()
            if isinstance(value, (str, int, float, type, ModuleType)) or value is None:
                continue
            if handle_of(value):
                self._variable(name, value, Name(name, network or name, holder, how))
                continue
            if _is_layer(value) and not holder and len(self._called) < _WIDE:
                self._called.setdefault(id(value), (value, {}))[1][name] = None
            if id(value) in self._seen or tf.is_tensor(value):
                continue
            self._seen.add(id(value))
            if _is_optimizer(value):
                self.optimizers.setdefault(id(value), name)
            elif _is_layer(value):
                lone = not holder and not getattr(value, "layers", None) and not any(_children(value))
                self._layer(name, value, network or name, holder, how or ("lone layer" if lone else ""))
                for attribute, held, kind in self._untracked(value):
                    todo.append(
                        (f"{name}.{attribute}", held, depth + 1, network or name, holder or name, kind)
                    )
            elif depth < _DEEP:
                for part, held in _held(value):
                    todo.append((f"{name}{part}", held, depth + 1, network, holder, how))

    def _variable(self, name: str, variable: Any, found: Name) -> None:
        handle = handle_of(variable)
        known = self.found.get(handle)
        if known is None or (known.untracked_in and not found.untracked_in):
            self.found[handle] = found
        self._objects.setdefault(handle, variable)

    def _layer(self, name: str, layer: Any, network: str, holder: str, how: str) -> None:
        """All variables that a layer or model knows of, by the way through its parts."""
        todo = deque([(name, layer)])
        own = {handle_of(v) for v in layer.variables}
        met = set()
        while todo:
            path, part = todo.popleft()
            if id(part) in met:
                continue
            met.add(id(part))
            self._seen.add(id(part))
            for variable in _own_variables(part):
                handle = handle_of(variable)
                if handle in own:
                    self._variable(path, variable, Name(f"{path}.{_short(variable)}", network, holder, how))
                    self._layers.setdefault(handle, part)
            todo.extend((f"{path}.{attribute}", child) for attribute, child in _children(part))
        for variable in layer.variables:
            if handle_of(variable) not in self.found:
                self._variable(name, variable, Name(f"{name}.{_short(variable, 2)}", network, holder, how))

    def _untracked(self, layer: Any) -> Iterator[tuple[str, Any, str]]:
        """What a model and its parts hold where Keras does not look."""
        todo = deque([("", layer)])
        own = {handle_of(v) for v in layer.variables}
        met = set()
        while todo:
            path, part = todo.popleft()
            if id(part) in met:
                continue
            met.add(id(part))
            for attribute, value in list(vars(part).items()):
                if not attribute.startswith("_"):
                    for index, held in _items(value):
                        if handle_of(held) and handle_of(held) not in own:
                            yield f"{path}{attribute}{index}", held, "attribute"
                        elif _is_optimizer(held) or (is_plain(held) and not isinstance(held, tf.Module)):
                            yield f"{path}{attribute}{index}", held, "plain object"
            todo.extend((f"{path}{attribute}.", child) for attribute, child in _children(part))

    def aliases(self) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Models that go by several names: ``target = online``."""
        found = []
        for model, called in self._called.values():
            if len({name.rpartition(".")[2] for name in called}) > 1:
                variables = model.variables() if callable(model.variables) else model.variables
                params = (self._variables.params.get(handle_of(v)) for v in variables)
                found.append((tuple(called), tuple(p.key for p in params if p is not None)))
        return found

    def give(self, namespace: Mapping[str, Any] | None) -> None:
        """Tell every variable its name, where its layer was made, and whether anybody still has it.

        With ``namespace``, the script's own names, this is the last look: what went by a name that is still
        there and means something else now, is gone.
        """
        for variable in self._objects.values():
            self._variables.param(variable)
        self._variables.ask_layers(_made_variables, last=False)
        for handle, param in list(self._variables.params.items()):
            found = self.found.get(handle)
            if namespace is None:
                param.seen = found is not None or bool(param.untracked_in)
            elif found is None and param.name.partition(".")[0].partition("[")[0] in namespace:
                param.seen = False
            if found is not None and (namespace is None or not param.name):
                param.seen = True
                param.name, param.network = found.name, found.network
                param.untracked_in, param.untracked_how = found.untracked_in, found.how
        if namespace is not None:
            self._variables.ask_layers(_made_variables, last=True)


def _is_layer(value: Any) -> bool:
    """A Keras layer or model of any generation, or a module of TF-Agents or Sonnet."""
    if not isinstance(value, tf.Module) and "keras" not in str(type(value).__mro__):
        return False
    return hasattr(value, "variables") and (hasattr(value, "add_weight") or _is_network(value))


def _is_network(value: Any) -> bool:
    return isinstance(value, tf.Module) and callable(value) and not _is_optimizer(value)


def _is_optimizer(value: Any) -> bool:
    return hasattr(value, "apply_gradients")


def _children(layer: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a layer, with how one writes them."""
    named = {id(child) for child in getattr(layer, "layers", ())} if _by_name(layer) else set()
    for attribute, value in list(vars(layer).items()):
        if _is_layer(value):
            if not attribute.startswith("_") or not named:
                yield attribute.lstrip("_"), value
        elif isinstance(value, (list, tuple, dict)) and not attribute.startswith("_"):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for index, held in items:
                if _is_layer(held):
                    yield f"{attribute}[{index!r}]", held
    for child in getattr(layer, "layers", ()) or ():
        yield child.name, child


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """A value itself, or what is in a list or dict; layers in there have been met already."""
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", held) for key, held in list(value.items()) if not _is_layer(held))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", held) for index, held in enumerate(value) if not _is_layer(held))
    elif not _is_layer(value):
        yield "", value


def _by_name(layer: Any) -> bool:
    return type(layer).__name__ in ("Sequential", "Functional", "Model")


def _own_variables(layer: Any) -> list[Any]:
    """The variables that a layer holds itself, whoever made them."""
    return [*_made_variables(layer), *(v for v in list(vars(layer).values()) if handle_of(v))]


def _made_variables(layer: Any) -> list[Any]:
    """The variables that a layer has made with ``add_weight``."""
    found: list[Any] = []
    for attribute in (
        "_trainable_variables",
        "_non_trainable_variables",
        "_trainable_weights",
        "_non_trainable_weights",
    ):
        held = getattr(layer, attribute, None)
        if isinstance(held, (list, tuple)):
            found.extend(v for v in held if handle_of(v))
    return found


def _short(variable: Any, parts: int = 1) -> str:
    """``kernel`` of ``actor/dense_1/kernel:0``."""
    name = str(getattr(variable, "path", "") or getattr(variable, "name", "") or "variable")
    return ".".join(name.partition(":")[0].split("/")[-parts:])


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """What a container or an object holds; an agent's networks are in attributes with an underscore."""
    if isinstance(value, tf.Module):
        for attribute, held in list(vars(value).items()):
            yield f".{attribute.lstrip('_')}", held
    else:
        yield from parts(value)
