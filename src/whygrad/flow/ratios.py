"""Ratios of a new probability and an old one, and which of the two is above."""

from __future__ import annotations

from whygrad.flow.paths import living_values
from whygrad.flow.scores import is_probability, scored
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import SAME_NUMBERS

_NEAR = 6  # operations between the logarithm of a ratio and the ratio
_BETWEEN = SAME_NUMBERS | {Kind.BOUND}


def ratio(flow: Flow, op: Op) -> int:
    """+1 for ``exp(log_prob - old_log_prob)`` or ``p / old_p``, -1 the other way round, else 0."""
    inner = compared(flow, op)
    if len(inner.inputs) != 2 or inner.kind is not (Kind.SUBTRACT if op.kind is Kind.EXP else Kind.DIVIDE):
        return 0
    alive = [flow[i].carries for i in inner.inputs]
    if alive[0] == alive[1]:
        return 0
    new = inner.inputs[0 if alive[0] else 1]
    known = scored(flow, new) if op.kind is Kind.EXP else is_probability(flow, new)
    return (1 if alive[0] else -1) if known else 0


def is_relative(flow: Flow, op: int) -> bool:
    """Does gradient flow from here through the exponential of a value minus a constant?

    So it is with a ratio whose log-probabilities come out of a function that nobody looks into.
    """
    for number in living_values(flow, [op]):
        here = flow[number]
        if here.kind is Kind.EXP:
            inner = compared(flow, here)
            alive = [flow[i].carries for i in inner.inputs]
            if inner.kind is Kind.SUBTRACT and alive in ([True, False], [False, True]):
                return True
    return False


def compared(flow: Flow, op: Op) -> Op:
    """The difference that an exponential was taken of, clamped perhaps; a quotient is that itself."""
    for _ in range(_NEAR):
        if len(op.inputs) != 1 or op.kind not in _BETWEEN | {Kind.EXP}:
            break
        op = flow[op.inputs[0]]
    return op
