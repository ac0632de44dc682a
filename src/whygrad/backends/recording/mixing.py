"""What a weight was overwritten with: how much of which parameter is in a value."""

from __future__ import annotations

from whygrad.backends.recording.nodes import Node, Param

_SAME = frozenset(
    (
        *(
            "data",
            "detach",
            "clone",
            "to",
            "float",
            "double",
            "cpu",
            "contiguous",
            "view",
            "reshape",
            "copy_",
        ),
        *("read", "cast", "stop_gradient", "constant", "numpy", "__array__"),
    )
)
_MOST = 64  # operations

Mixture = dict[Param, "float | None"]


def mixture(node: Node, known: dict[Node, Mixture] | None = None) -> Mixture:
    """The parameters in a value, each with its factor; ``None`` where the arithmetic is not a sum.

    ``known`` holds what was looked at already: a sync is a few operations deep, a line search is not.
    """
    known = {} if known is None else known
    found = known.get(node)
    if found is None:
        known[node] = {}
        if len(known) <= _MOST:
            known[node] = found = _mixture(node, known)
    return found or {}


def _mixture(node: Node, known: dict[Node, Mixture]) -> Mixture:
    if node.parameter is not None:
        return {node.parameter: 1.0}
    if not node.inputs:
        return {}
    name = node.name.strip("_")
    if node.name in _SAME or name in _SAME:
        return mixture(node.inputs[-1] if node.name == "copy_" else node.inputs[0], known)
    parts = [mixture(source, known) for source in node.inputs]
    if name == "neg":
        return scaled(parts[0], -1.0)
    if name in ("add", "radd", "iadd", "sub", "isub", "rsub"):
        return _sum(name, parts, node.numbers)
    if name in ("mul", "rmul", "imul", "multiply") and len(parts) == 1 and node.numbers:
        return scaled(parts[0], node.numbers[0])
    if name in ("div", "truediv", "itruediv") and len(parts) == 1 and node.numbers and node.numbers[0]:
        return scaled(parts[0], 1 / node.numbers[0])
    if name == "lerp" and len(parts) == 2 and node.numbers:
        return added(scaled(parts[0], 1 - node.numbers[-1]), scaled(parts[1], node.numbers[-1]))
    return {param: None for part in parts for param in part}


def _sum(name: str, parts: list[Mixture], numbers: tuple[float, ...]) -> Mixture:
    if len(parts) == 1:
        return scaled(parts[0], -1.0) if name == "rsub" else parts[0]
    factor = numbers[-1] if numbers else 1.0  # alpha
    if name == "rsub":
        return added(parts[1], scaled(parts[0], -factor))
    return added(parts[0], scaled(parts[1], -factor if "sub" in name else factor))


def scaled(part: Mixture, factor: float) -> Mixture:
    """A mixture times a number."""
    return {param: None if held is None else held * factor for param, held in part.items()}


def added(one: Mixture, two: Mixture) -> Mixture:
    """The sum of two mixtures."""
    total = dict(one)
    for param, factor in two.items():
        held = total.get(param, 0.0)
        total[param] = None if held is None or factor is None else held + factor
    return total


def after_write(name: str, owner: Param, sources: tuple[Node, ...], numbers: tuple[float, ...]) -> Mixture:
    """What a parameter consists of after an in-place operation; ``owner.scale`` is what earlier ones left."""
    name = name.strip("_")
    parts = [mixture(source) for source in sources]
    if name in ("mul", "imul", "div", "itruediv") and numbers and not parts:
        owner.scale *= numbers[0] if "mul" in name else 1 / (numbers[0] or 1.0)
        return {}
    own: Mixture = {owner: owner.scale}
    if not any(param is not owner for part in parts for param in part):
        return {}
    owner.scale = 1.0
    if name in ("copy", "set", "setitem", "data"):
        return parts[-1]
    if name == "lerp" and numbers:
        return added(scaled(own, 1 - numbers[-1]), scaled(parts[0], numbers[-1]))
    if name in ("add", "iadd", "sub", "isub"):
        factor = (numbers[-1] if numbers else 1.0) * (-1 if "sub" in name else 1)
        return added(own, scaled(parts[0], factor))
    return {param: None for part in (own, *parts) for param in part}
