"""Densities that are written out: a Gaussian around its own sample, and what squashing takes from it."""

from __future__ import annotations

from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import REDUCTIONS, SAME_NUMBERS, SCALES, SUMS

_NEAR = 8
_MOST = 40


def own_density(flow: Flow, number: int) -> int:
    """+1 for a written log-probability of a policy's own sample, -1 for its negative; 0 for anything else."""
    todo, seen = [(number, 1)], set[int]()
    while todo and len(seen) < _MOST:
        here, sign = todo.pop()
        op = flow[here]
        if here in seen:
            continue
        seen.add(here)
        if is_own_distance(flow, op) or is_squashing(flow, op):
            return -sign
        if op.kind is Kind.NEGATE or (op.kind in SCALES and op.numbers and op.numbers[0] < 0):
            sign = -sign
        if op.kind is Kind.SUBTRACT and len(op.inputs) == 2:
            todo.extend(((op.inputs[1], -sign), (op.inputs[0], sign)))
        elif op.kind in SUMS | SCALES | REDUCTIONS | SAME_NUMBERS | {Kind.NEGATE}:
            alone = len(op.inputs) == 1 or op.kind is Kind.ADD
            todo.extend((i, sign) for i in (op.inputs if alone else op.inputs[:1]))
    return 0


def is_own_distance(flow: Flow, op: Op) -> bool:
    """``((u - mu) / std) ** 2`` with ``u = mu + std * noise``: a Gaussian that is written out."""
    power = op.kind is Kind.POWER and not op.swapped and op.numbers[-1:] == (2.0,)
    if not (power or op.kind is Kind.MAGNITUDE) or len(op.inputs) != 1:
        return False
    inner = flow[op.inputs[0]]
    if inner.kind is Kind.DIVIDE and not inner.swapped:
        inner = flow[inner.inputs[0]]
    if inner.kind is not Kind.SUBTRACT or len(inner.inputs) != 2:
        return False
    one, two = inner.inputs
    return any(_is_drawn_around(flow, flow[a], b) for a, b in ((one, two), (two, one)))


def _is_drawn_around(flow: Flow, sample: Op, mean: int) -> bool:
    """``mean + deviation * noise``."""
    if sample.kind is not Kind.ADD or len(sample.inputs) != 2 or mean not in sample.inputs:
        return False
    (rest,) = [i for i in sample.inputs if i != mean] or [mean]
    product = flow[rest]
    return product.kind is Kind.MULTIPLY and any(_is_noise(flow, i) for i in product.inputs)


def drawn_around(flow: Flow, sample: Op) -> int | None:
    """The mean of ``mean + deviation * noise``, if the deviation is learnt too: noise on a layer has none."""
    if sample.kind is not Kind.ADD or len(sample.inputs) != 2:
        return None
    for mean, rest in (sample.inputs, sample.inputs[::-1]):
        product = flow[rest]
        if product.kind is Kind.MULTIPLY and len(product.inputs) == 2 and flow[mean].carries:
            learnt = any(flow[i].carries for i in product.inputs)
            if learnt and any(_is_noise(flow, i) for i in product.inputs):
                return mean
    return None


def _is_noise(flow: Flow, number: int) -> bool:
    """Random numbers, shifted and scaled perhaps."""
    for _ in range(_NEAR):
        op = flow[number]
        if op.kind is Kind.NOISE or not op.inputs or op.carries:
            return op.kind is Kind.NOISE
        number = op.inputs[0]
    return False


def is_squashing(flow: Flow, op: Op) -> bool:
    """``log(1 - tanh(u) ** 2 + 1e-6)``, by which the density of a squashed action differs."""
    if op.kind is not Kind.LOG or not op.inputs:
        return False
    inner = flow[op.inputs[0]]
    for _ in range(2):
        if inner.kind in (Kind.ADD, Kind.BOUND) and len(inner.inputs) == 1:
            inner = flow[inner.inputs[0]]
    if inner.kind is not Kind.SUBTRACT or not inner.swapped or len(inner.inputs) != 1:
        return False
    square = flow[inner.inputs[0]]
    squared = square.kind in (Kind.MAGNITUDE, Kind.POWER) and len(square.inputs) == 1
    return squared and flow[square.inputs[0]].kind is Kind.TANH
