"""What the user calls things: ``actor.hidden.kernel``, with ``actor`` a name in their own script."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.naming import DEEP, WIDE, Aliases, Name, Todo, Walk, aliases, together
from whygrad.frameworks.shared.objects import (
    FRAMEWORKS,
    attributes,
    class_name,
    classes,
    defines,
    is_a,
    items,
    listed,
    module_of,
    package_of,
    shown,
    shows,
    subscript,
)
from whygrad.frameworks.shared.scopes import is_opaque, is_plain, parts
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.variables import Variables, handle_of, name_of, variables_in


class Names(Walk):
    """Of variables, layers and optimizers."""

    def __init__(self, variables: Variables) -> None:
        super().__init__()
        self._variables = variables
        self.found: dict[int, Name] = {}  # by handle
        self._objects: dict[int, Any] = {}  # handle -> the variable, as the user or Keras holds it
        self._called: dict[int, tuple[Any, dict[str, None]]] = {}  # models, with all their names

    def _met(self, name: str, value: Any, depth: int, network: str, holder: str, how: str) -> list[Todo]:
        """Remember it if it is one of ours; what it holds is to be looked at next."""
        if is_opaque(value):
            return []
        value = private.unwrapped(value)
        if handle_of(value):
            self._variable(value, Name(name, network or name, holder, how))
            return []
        if _is_layer(value) and not holder and len(self._called) < WIDE:
            self._called.setdefault(id(value), (value, {}))[1][name] = None
        if id(value) in self._seen or private.is_tensor(value):
            return []
        self._seen.add(id(value))
        if _is_optimizer(value):
            self.optimizers.setdefault(id(value), name)
        elif _is_layer(value):
            lone = not holder and not _layers(value) and not any(_children(value))
            self._layer(name, value, network or name, holder, how or ("lone layer" if lone else ""))
            return [
                (f"{name}.{attribute}", held, depth + 1, network or name, holder or name, kind)
                for attribute, held, kind in self._untracked(value)
            ]
        elif depth < DEEP:
            inside = list(_held(value))
            whole = together(value, name, ((bool(handle_of(v)), _is_layer(v)) for _, v in inside))
            network = network or whole
            return [(f"{name}{part}", held, depth + 1, network, holder, how) for part, held in inside]
        return []

    def _variable(self, variable: Any, found: Name) -> None:
        handle = handle_of(variable)
        known = self.found.get(handle)
        if known is None or (known.untracked_in and not found.untracked_in):
            self.found[handle] = found
        self._objects.setdefault(handle, variable)

    def _layer(self, name: str, layer: Any, network: str, holder: str, how: str) -> None:
        """All variables that a layer or model knows of, by the way through its parts."""
        own = {handle_of(v) for v in variables_in(layer)}
        apart = network == name and _holds_together(layer)
        for path, part in _parts(layer):
            self._seen.add(id(part))
            for variable in _own_variables(part):
                handle = handle_of(variable)
                if handle in own:
                    whole = f"{name}.{path}{_short(variable)}"
                    owner = f"{name}.{(path or _short(variable)).partition('.')[0]}" if apart else network
                    self._variable(variable, Name(whole, owner, holder, how))
        for variable in variables_in(layer):
            if handle_of(variable) not in self.found:
                self._variable(variable, Name(f"{name}.{_short(variable, 2)}", network, holder, how))

    def _untracked(self, layer: Any) -> Iterator[tuple[str, Any, str]]:
        """What a model and its parts hold where Keras does not look."""
        own = {handle_of(v) for v in variables_in(layer)}
        for path, part in _parts(layer):
            for attribute, value in attributes(part):
                if not attribute.startswith("_"):
                    for index, held in _items(value):
                        if handle_of(held) and handle_of(held) not in own:
                            yield f"{path}{attribute}{index}", held, "attribute"
                        elif _is_optimizer(held) or (is_plain(held) and not is_a(held, tf.Module)):
                            yield f"{path}{attribute}{index}", held, "plain object"

    def aliases(self) -> Aliases:
        """Models that go by several names; two models of the same layers are one, to a gradient."""
        same: dict[frozenset[int], dict[str, None]] = {}
        for model, names in self._called.values():
            keys = frozenset(self._keys(model))
            if keys:
                same.setdefault(keys, {}).update(names)
        return aliases((names, sorted(keys)) for keys, names in same.items() if len(names) > 1)

    def _keys(self, model: Any) -> list[int]:
        params = (self._variables.params.get(handle_of(v)) for v in variables_in(model))
        return [p.key for p in params if p is not None]

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
                found.give(param)
        if namespace is not None:
            self._variables.ask_layers(_made_variables, last=True)


def _is_layer(value: Any) -> bool:
    """A Keras layer or model of any generation, or a module of TF-Agents or Sonnet."""
    if not is_a(value, tf.Module) and not any(map(_is_of_keras, classes(value))):
        return False
    return shows(value, "variables") and (shows(value, "add_weight") or _is_network(value))


def _is_of_keras(kind: type) -> bool:
    return "keras" in module_of(kind)


def _is_network(value: Any) -> bool:
    return is_a(value, tf.Module) and callable(value) and not _is_optimizer(value)


def _holds_together(layer: Any) -> bool:
    """An agent that cannot be called, and that has networks, not layers, as its parts."""
    found = defines(layer, "call")
    if package_of(type(layer)) in FRAMEWORKS or found is None:
        return False
    children = [child for _, child in _children(layer)]
    own = package_of(found[0]) not in FRAMEWORKS
    return bool(children) and not own and all(_layers(child) or any(_children(child)) for child in children)


def _is_optimizer(value: Any) -> bool:
    return shows(value, "apply_gradients")


def _layers(layer: Any) -> list[Any]:
    """The layers of a model, as Keras lists them."""
    return listed(shown(layer, "layers"))


def _parts(layer: Any) -> Iterator[tuple[str, Any]]:
    """A layer and everything in it, nearest first, each of them once, with the way to what it holds."""
    todo, met = deque([("", layer)]), set()
    while todo:
        path, part = todo.popleft()
        if id(part) not in met:
            met.add(id(part))
            yield path, part
            todo.extend((f"{path}{attribute}.", child) for attribute, child in _children(part))


def _children(layer: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a layer, with how one writes them."""
    named = {id(child) for child in _layers(layer)} if _by_name(layer) else set()
    for attribute, value in attributes(layer):
        if _is_layer(value):
            if not attribute.startswith("_") or not named:
                yield attribute.lstrip("_"), value
        elif not attribute.startswith("_"):
            for index, held in _contents(value):
                if _is_layer(held):
                    yield f"{attribute}{index}", held
    for child in _layers(layer):
        yield name_of(child), child


def _contents(value: Any) -> Iterator[tuple[str, Any]]:
    """What is in a list or dict, with how one writes it."""
    value = private.unwrapped(value)
    yield from ((subscript(key), held) for key, held in items(value))
    yield from ((f"[{index}]", held) for index, held in enumerate(listed(value)))


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    """A value itself, or what is in a list or dict; layers in there have been met already."""
    if is_a(private.unwrapped(value), dict, list, tuple):
        yield from ((index, held) for index, held in _contents(value) if not _is_layer(held))
    elif not _is_layer(value):
        yield "", value


def _by_name(layer: Any) -> bool:
    return class_name(layer) in ("Sequential", "Functional", "Model")


def _own_variables(layer: Any) -> list[Any]:
    """The variables that a layer holds itself, whoever made them."""
    return [*_made_variables(layer), *(v for _, v in attributes(layer) if handle_of(v))]


def _made_variables(layer: Any) -> list[Any]:
    """The variables that a layer has made with ``add_weight``."""
    found: list[Any] = []
    for attribute in (
        "_trainable_variables",
        "_non_trainable_variables",
        "_trainable_weights",
        "_non_trainable_weights",
    ):
        found.extend(v for v in listed(shown(layer, attribute)) if handle_of(v))
    return found


def _short(variable: Any, parts: int = 1) -> str:
    """``kernel`` of ``actor/dense_1/kernel:0``."""
    name = str(shown(variable, "path") or shown(variable, "name") or "variable")
    return ".".join(name.partition(":")[0].split("/")[-parts:])


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """What a container or an object holds; an agent's networks are in attributes with an underscore."""
    if is_a(value, tf.Module):
        for attribute, held in attributes(value):
            yield f".{attribute.lstrip('_')}", held
    else:
        yield from parts(value)
