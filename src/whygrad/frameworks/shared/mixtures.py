"""What a weight was overwritten with: how much of which parameter is in a value."""

from __future__ import annotations

from whygrad.frameworks.shared.kinds import Kinds, is_swapped
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.model import Kind
from whygrad.model.kinds import SAME_NUMBERS, SCALES, SUMS

_SAME = SAME_NUMBERS | {Kind.STOP, Kind.READ, Kind.CONVERT}
_MOST = 64  # operations

Mixture = dict[Param, "float | None"]


def mixture(node: Node, kinds: Kinds, known: dict[Node, Mixture] | None = None) -> Mixture:
    """The parameters in a value, each with its factor; ``None`` where the arithmetic is not a sum.

    ``known`` holds what was looked at already: a sync is a few operations deep, a line search is not.
    """
    known = {} if known is None else known
    found = known.get(node)
    if found is None:
        known[node] = {}
        if len(known) <= _MOST:
            known[node] = found = _mixture(node, kinds, known)
    return found or {}


def _mixture(node: Node, kinds: Kinds, known: dict[Node, Mixture]) -> Mixture:
    if node.parameter is not None:
        return {node.parameter: 1.0}
    if not node.inputs:
        return {}
    kind, swapped = kinds.of(node.name, len(node.inputs)), is_swapped(node.name)
    if kind in _SAME or kind is Kind.ASSIGN:
        return mixture(node.inputs[-1 if kind is Kind.ASSIGN else 0], kinds, known)
    parts = [mixture(source, kinds, known) for source in node.inputs]
    if kind is Kind.NEGATE:
        return scaled(parts[0], -1.0)
    if kind in SUMS:
        return _sum(kind, parts[::-1] if swapped else parts, node.numbers, swapped)
    if kind is Kind.MULTIPLY and len(parts) == 1 and node.numbers:
        return scaled(parts[0], node.numbers[0])
    if kind is Kind.DIVIDE and not swapped and len(parts) == 1 and node.numbers and node.numbers[0]:
        return scaled(parts[0], 1 / node.numbers[0])
    if kind is Kind.BLEND and len(parts) == 2 and node.numbers:
        return added(scaled(parts[0], 1 - node.numbers[-1]), scaled(parts[1], node.numbers[-1]))
    return {param: None for part in parts for param in part}


def _sum(kind: Kind, parts: list[Mixture], numbers: tuple[float, ...], swapped: bool) -> Mixture:
    if len(parts) == 1:
        return scaled(parts[0], -1.0) if swapped else parts[0]
    factor = numbers[-1] if numbers else 1.0  # alpha
    return added(parts[0], scaled(parts[1], -factor if kind is Kind.SUBTRACT else factor))


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


def after_write(
    kind: Kind, owner: Param, sources: tuple[Node, ...], numbers: tuple[float, ...], kinds: Kinds
) -> Mixture:
    """What a parameter consists of after an in-place operation; ``owner.scale`` is what earlier ones left."""
    parts = [mixture(source, kinds) for source in sources]
    if kind in SCALES and numbers and not parts:
        owner.scale *= numbers[0] if kind is Kind.MULTIPLY else 1 / (numbers[0] or 1.0)
        return {}
    own: Mixture = {owner: owner.scale}
    if not any(param is not owner for part in parts for param in part):
        return {}
    owner.scale = 1.0
    if kind in (Kind.ASSIGN, Kind.PUT, Kind.STOP):  # the last one: x.data = y
        return parts[-1]
    if kind is Kind.BLEND and numbers:
        return added(scaled(own, 1 - numbers[-1]), scaled(parts[0], numbers[-1]))
    if kind in SUMS:
        factor = (numbers[-1] if numbers else 1.0) * (-1 if kind is Kind.SUBTRACT else 1)
        return added(own, scaled(parts[0], factor))
    return {param: None for part in (own, *parts) for param in part}
