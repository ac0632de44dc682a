"""Regressions on a bootstrap target: ``loss(q(s, a), r + gamma * v(s'))``, however it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whygrad.flow.few import few_per_line
from whygrad.flow.sums import Addend, Parts
from whygrad.model import Op

LOSSES = frozenset(("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "squared_difference"))
_SQUARES = frozenset(("square", "abs", "pow", "ipow"))


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """One value that a prediction is regressed on, discounted and added to data."""

    residual: Op  # the loss function or the square
    value: Addend  # gamma * v(s')
    meets: Op  # where it is added to the reward
    predictions: tuple[Addend, ...]


def bootstraps(parts: Parts, inside: Iterable[int]) -> Iterator[Bootstrap]:
    """The bootstrap targets in the residuals among these values."""
    ops = (parts.flow[number] for number in sorted(inside))
    for op in few_per_line(ops, most=6):
        addends = _residual(parts, op)
        if addends:
            yield from _in(parts, op, addends)


def _residual(parts: Parts, op: Op) -> list[Addend]:
    """The two sides of a comparison as one sum, prediction minus target."""
    name, inputs = op.name.strip("_"), op.inputs
    if name in LOSSES and len(inputs) >= 2:
        return _mixed([*parts.addends(inputs[0]), *parts.addends(inputs[1], -1)])
    squared = name in _SQUARES and len(inputs) == 1 and (name != "pow" or op.numbers[-1:] == (2.0,))
    itself = name == "mul" and len(inputs) == 2 and inputs[0] == inputs[1]
    return _mixed(parts.addends(inputs[0])) if squared or itself else []


def _mixed(addends: list[Addend]) -> list[Addend]:
    """A residual has something from networks on both sides; else it is a norm or a penalty."""
    signs = {a.sign for a in addends if not a.data}
    return addends if len(signs) == 2 else []


def _in(parts: Parts, residual: Op, addends: list[Addend]) -> Iterator[Bootstrap]:
    """The bootstraps of one residual; a return that is summed up over steps is one, not a hundred."""
    data = {number for a in addends if a.data for number in a.sums}
    predictions = {sign: _predictions(parts, addends, sign) for sign in (1, -1)}
    seen: set[object] = set()
    for value in addends:
        if value.data or not value.discounted:
            continue
        meeting = [number for number in value.sums if number in data]
        if not meeting:
            continue
        meets = parts.flow[meeting[-1]]
        key = (meets.site, value.live, parts.behind(value.op))
        others = tuple(a for a in predictions[-value.sign] if a.op != value.op)
        if others and key not in seen:
            seen.add(key)
            yield Bootstrap(residual, value, meets, others)


def _predictions(parts: Parts, addends: list[Addend], sign: int) -> list[Addend]:
    """What is compared with a target of the other sign, each network once."""
    found: dict[object, Addend] = {}
    for addend in addends:
        if not addend.data and not addend.discounted and addend.sign == sign:
            found.setdefault((parts.behind(addend.op), addend.live), addend)
    return list(found.values())
