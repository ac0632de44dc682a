"""Two values that are the same number: one is a copy of the other, or both were computed in the same way."""

from __future__ import annotations

from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import DRAWS, SAME_NUMBERS

_NEAR = 12
_MOST = 400
_COPIES = SAME_NUMBERS | {Kind.STOP, Kind.ASK}
_CHANGING = DRAWS | {Kind.NOISE, Kind.UNSEEN, Kind.CALLBACK, Kind.COLLECT}


def copied(flow: Flow, number: int) -> Op:
    """The value itself, before it was shaped, cut off or copied."""
    op = flow[number]
    for _ in range(_NEAR):
        if op.kind not in _COPIES or not op.inputs or op.parameter is not None or op.fresh:
            break
        op = flow[op.inputs[0]]
    return op


def alike(flow: Flow, one: int, two: int) -> bool:
    """Is one what the other is, by the same operations from the same values?"""
    todo, seen = [(one, two)], {(one, two)}
    while todo:
        first, second = (copied(flow, number) for number in todo.pop())
        if first.id == second.id:
            continue
        if len(seen) > _MOST or not _same(first, second):
            return False
        pairs = set(zip(first.inputs, second.inputs, strict=True)) - seen
        seen |= pairs
        todo.extend(pairs)
    return True


def _same(one: Op, two: Op) -> bool:
    if _same_constant(one, two):
        return True
    if one.fresh or two.fresh or not one.inputs or one.parameter is not None or one.kind in _CHANGING:
        return False
    what = (one.kind, one.name, one.numbers, one.axes, one.shape, len(one.inputs), one.left)
    return what == (two.kind, two.name, two.numbers, two.axes, two.shape, len(two.inputs), two.left)


def _same_constant(one: Op, two: Op) -> bool:
    """An axis or a shape that the same line gives each time: whole numbers, which nobody trains."""
    plain = not (one.inputs or two.inputs or one.floating or two.floating) and one.site is not None
    plain = plain and (one.shape == () or not (one.fresh or two.fresh))  # a batch of actions is data
    return plain and (one.name, one.shape, one.site) == (two.name, two.shape, two.site)
