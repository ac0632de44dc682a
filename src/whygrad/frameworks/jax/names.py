"""What the user calls things: ``params['actor']['w']``, with ``params`` a name in their own script."""

from __future__ import annotations

from typing import Any

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.lineages import Lineages
from whygrad.frameworks.shared.naming import DEEP, Name, Todo, Walk
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.objects import attributes, fields, is_a, items, listed, module_of, subscript
from whygrad.frameworks.shared.scopes import is_opaque, is_plain, parts

_DEEP = DEEP + 6  # trees of parameters are deeper than other things


class Names(Walk):
    """Of parameters and optimizers."""

    def __init__(self, lineages: Lineages) -> None:
        super().__init__()
        self._lineages = lineages
        self.found: dict[int, tuple[str, tuple[str, ...]]] = {}  # key -> the variable, and the way from there

    def _met(self, name: str, value: Any, depth: int, network: str, holder: str, how: str) -> list[Todo]:
        """Remember it if it is one of ours; what it holds is to be looked at next."""
        if is_opaque(value):
            return []
        if is_a(value, private.ARRAY, private.TRACER):
            param = self._lineages.of(value)
            if param is not None and param.key not in self.found:
                self.found[param.key] = (name, tuple(how.split("\0")) if how else ())
            return []
        if id(value) in self._seen:
            return []
        self._seen.add(id(value))
        if _is_optimizer(value):
            self.optimizers.setdefault(id(value), name)
            return []
        if depth >= _DEEP:
            return []
        way = f"{how}\0" if how else ""
        return [(f"{name}{part}", held, depth + 1, "", "", f"{way}{part}") for part, held in _held(value)]

    def give(self) -> None:
        """Tell every parameter its name, and which network it belongs to."""
        ways: dict[str, dict[int, tuple[str, ...]]] = {}
        for key, (name, way) in self.found.items():
            root = name[: len(name) - len("".join(way))]
            ways.setdefault(root, {})[key] = way
        for root, members in ways.items():
            for key, (network, whole) in networks(root, members, self._lineages.params).items():
                param = self._lineages.params.get(key)
                if param is not None and not param.name:
                    Name(whole, network).give(param)
                elif param is not None:
                    param.seen = True


def networks(
    root: str, members: dict[int, tuple[str, ...]], params: dict[int, Param]
) -> dict[int, tuple[str, str]]:
    """Key -> network and name: the parts of a tree that hold several layers are networks of their own."""
    found: dict[int, tuple[str, str]] = {}
    _split(root, members, params, found, 0)
    return found


def _split(
    root: str,
    members: dict[int, tuple[str, ...]],
    params: dict[int, Param],
    found: dict[int, tuple[str, str]],
    depth: int,
) -> None:
    children: dict[str, dict[int, tuple[str, ...]]] = {}
    for key, way in members.items():
        children.setdefault(way[0] if way else "", {})[key] = way[1:]
    layered = [part for part, held in children.items() if part and _layers(held, params) > 1]
    if depth < _DEEP and (len(children) == 1 or len(layered) > 1) and "" not in children:
        for part, held in children.items():
            _split(f"{root}{part}", held, params, found, depth + 1)
        return
    for key, way in members.items():
        whole = f"{root}{''.join(way)}"
        found[key] = (root, whole)


def _layers(members: dict[int, tuple[str, ...]], params: dict[int, Param]) -> int:
    """How many matrices there are."""
    return sum(len(params[key].shape) > 1 for key in members if key in params)


def _is_optimizer(value: Any) -> bool:
    return fields(value) == ["init", "update"] or (
        module_of(type(value)).startswith("optax") and fields(value)[:2] == ["init", "update"]
    )


def _held(value: Any) -> list[tuple[str, Any]]:
    """What a container or an object holds, as one writes it."""
    named = fields(value)
    if named:
        return [(f".{field}", held) for field, held in zip(named, listed(value), strict=False)]
    if module_of(type(value)).startswith(("flax", "equinox", "haiku", "chex")) and not is_a(value, dict):
        return [(f".{name}", held) for name, held in attributes(value) if not name.startswith("_flax")]
    found = list(parts(value))
    if not found and is_plain(value):
        found = [(f".{name}", held) for name, held in attributes(value)]
    return found or [(subscript(key), held) for key, held in items(value)]
