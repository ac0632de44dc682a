"""One object that holds several networks: an agent that is itself a model, a policy of a library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.records import CopyRecord, OptimizerRecord

_PART = re.compile(r"(?:[^.\[]|\[[^\]]*\])+")
_DEEP = 3  # networks within networks within networks

Children = dict[str, dict[int, Param]]  # part of a network -> its parameters, by key


def tell_apart(
    params: Mapping[int, Param], optimizers: Iterable[OptimizerRecord], copies: Iterable[CopyRecord]
) -> None:
    """Parts that different optimizers train, and a part that is a copy of another one, are networks."""
    holders: dict[int, set[int]] = {}
    for record in optimizers:
        for key in record.held if record.steps else ():
            holders.setdefault(key, set()).add(record.key)
    origins = {copy.target.key: copy.source.key for copy in copies}
    for _ in range(_DEEP):
        for network, children in _networks(params).items():
            if _trained_apart(children, holders) or _copied(children, origins):
                _split(network, children)


def _networks(params: Mapping[int, Param]) -> dict[str, Children]:
    """Those that have parts."""
    found: dict[str, Children] = {}
    for param in params.values():
        if param.network and param.name.startswith(f"{param.network}."):
            part = _PART.findall(param.name[len(param.network) + 1 :])[0]
            found.setdefault(param.network, {}).setdefault(part, {})[param.key] = param
    return {network: children for network, children in found.items() if len(children) > 1}


def _trained_apart(children: Children, holders: Mapping[int, set[int]]) -> bool:
    """Two parts, and no optimizer that holds something of both."""
    trained = [set[int]().union(*(holders.get(key, ()) for key in keys)) for keys in children.values()]
    trained = [by for by in trained if by]
    return any(one.isdisjoint(other) for n, one in enumerate(trained) for other in trained[n + 1 :])


def _copied(children: Children, origins: Mapping[int, int]) -> bool:
    """Is there a part all of whose weights were copied from another part?"""
    for part, keys in children.items():
        sources = {origins.get(key) for key in keys}
        others = (set(held) for name, held in children.items() if name != part)
        if None not in sources and any(sources <= held for held in others):
            return True
    return False


def _split(network: str, children: Children) -> None:
    for part, keys in children.items():
        for param in keys.values():
            param.network = f"{network}.{part}"


def nameless(param: Param, origin: Param | None) -> str:
    """What parameters have in common that nobody has a name for: whose copy they are, or their line."""
    if origin is not None and origin.network:
        return f"a copy of {origin.network}"
    where = param.made[0] if param.made else None
    return f"(parameters made at line {where.line})" if where is not None else anonymous(param)


def anonymous(param: Param) -> str:
    """One that nobody has a name for, by its size and its line."""
    size = "x".join(map(str, param.shape)) or "scalar"
    where = param.made[0] if param.made else None
    return f"({size} parameter made at line {where.line})" if where is not None else f"({size} parameter)"
