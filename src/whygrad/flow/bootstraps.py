"""Regressions on a bootstrap target: ``loss(q(s, a), r + gamma * v(s'))``, however it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whygrad.flow.few import few_per_line
from whygrad.flow.paths import ancestors
from whygrad.flow.sums import Addend, Parts
from whygrad.model import Kind, Op

_FEW = 3


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """One value that a prediction is regressed on, discounted and added to data."""

    residual: Op  # the loss function or the square
    value: Addend  # gamma * v(s')
    meets: Op  # where it is added to the reward
    predictions: tuple[Addend, ...]
    spread: bool = False  # it is a distribution, which reward and discount move along its support


def bootstraps(parts: Parts, inside: Iterable[int]) -> Iterator[Bootstrap]:
    """The bootstrap targets in the residuals among these values."""
    ops = (parts.flow[number] for number in sorted(inside))
    for op in few_per_line(ops, most=6):
        addends = _residual(parts, op)
        if addends:
            yield from _in(parts, op, addends)


def _residual(parts: Parts, op: Op) -> list[Addend]:
    """The two sides of a comparison as one sum, prediction minus target."""
    inputs = op.inputs
    if op.kind is Kind.LOSS and len(inputs) >= 2:
        return _mixed([*parts.addends(inputs[0]), *parts.addends(inputs[1], -1)])
    power = op.kind is Kind.POWER and not op.swapped and op.numbers[-1:] == (2.0,)
    squared = (power or op.kind is Kind.MAGNITUDE) and len(inputs) == 1
    itself = op.kind is Kind.MULTIPLY and len(inputs) == 2 and inputs[0] == inputs[1]
    return _mixed(parts.addends(inputs[0])) if squared or itself else []


def _mixed(addends: list[Addend]) -> list[Addend]:
    """A residual has something from networks on both sides; else it is a norm or a penalty."""
    signs = {a.sign for a in addends if not a.data}
    return addends if len(signs) == 2 else []


def _in(parts: Parts, residual: Op, addends: list[Addend]) -> Iterator[Bootstrap]:
    """The bootstraps of one residual; a return that is summed up over steps is one, not a hundred."""
    data = {number for a in addends if a.data for number in a.sums[a.around :]}
    predictions = {sign: _predictions(parts, addends, sign) for sign in (1, -1)}
    tried: dict[object, int] = {}
    for value in addends:
        if value.data or not value.discounted:
            continue
        meeting = [number for number in value.sums[: value.around] if number in data]
        if not meeting:
            continue
        meets = parts.flow[meeting[-1]]
        key = (meets.site, value.live, parts.behind(value.op))
        if tried.get(key, 0) >= _FEW:
            continue
        others = _unrelated(parts, value, predictions[-value.sign])
        tried[key] = _FEW if others else tried.get(key, 0) + 1
        if others:
            yield Bootstrap(residual, value, meets, others)


def _predictions(parts: Parts, addends: list[Addend], sign: int) -> list[Addend]:
    """What is compared with a target of the other sign, of each network a few."""
    found: dict[object, list[Addend]] = {}
    for addend in addends:
        if not addend.data and not addend.discounted and addend.sign == sign:
            same = found.setdefault((parts.behind(addend.op), addend.live), [])
            if len(same) < _FEW and all(a.value != addend.value for a in same):
                same.append(addend)
    return [addend for same in found.values() for addend in same]


def _unrelated(parts: Parts, value: Addend, predictions: list[Addend]) -> tuple[Addend, ...]:
    """The predictions that are values of other states: each network once.

    What was computed from the value, or the value from it, belongs to its own forward pass: ``x - x.mean()``.
    """
    if not predictions:
        return ()
    before = ancestors(parts.flow, value.value)
    found: dict[object, Addend] = {}
    for one in predictions:
        if one.value not in before and value.value not in ancestors(parts.flow, one.value):
            found.setdefault((parts.behind(one.op), one.live), one)
    return tuple(found.values())
