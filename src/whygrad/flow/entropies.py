"""Entropies in a loss: where they are, and with which sign they enter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from whygrad.flow.densities import is_own_distance, is_squashing
from whygrad.flow.layers import adds_bias
from whygrad.flow.scores import is_probability, is_score
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import KEEPS_SIGN, PROBABILITIES, SCALES, SUMS

_MOST = 2000
_NEAR = 8


@dataclass(frozen=True, slots=True)
class Part:
    """Something in a loss that is no sum, and the sign with which it enters.

    ``entropy`` is +1 if it grows with the entropy of a policy, -1 if it falls, 0 if it is something else.
    """

    op: Op
    sign: int
    entropy: int = 0
    sampled: bool = False  # the log-probability of the policy's own sample


def parts(flow: Flow, root: int) -> Iterator[Part]:
    """The parts of a loss, through sums, means, factors and expectations."""
    todo = [(root, 1, False)]
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        here, sign, expected = todo.pop()
        op = flow[here]
        if here in seen or not op.carries:
            continue
        seen.add(here)
        known = (-1, False) if expected and _is_logarithm(flow, op) else _entropy(flow, op)
        if known is not None:
            yield Part(op, sign, *known)
            continue
        deeper = None if is_score(op) or adds_bias(flow, op) else _inside(flow, op, sign)
        weighed = _weighs_data(flow, op)
        if deeper is None or weighed:
            yield Part(op, sign)
        if deeper is not None:
            todo.extend((number, s, expected or weighed) for number, s in deeper)


def _weighs_data(flow: Flow, op: Op) -> bool:
    """``p * (q - alpha * log_p)``: an expectation of something that is a constant to the policy."""
    if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2:
        return False
    one, two = (flow[i] for i in op.inputs)
    return any(
        p.carries and _is_distribution(flow, p) and len(rest.inputs) == 2 and _is_partly_data(flow, rest)
        for p, rest in ((one, two), (two, one))
    )


def _is_partly_data(flow: Flow, op: Op) -> bool:
    alive = {flow[i].carries for i in op.inputs}
    return op.kind in SUMS and alive == {True, False} and all(flow[i].shape == op.shape for i in op.inputs)


def _inside(flow: Flow, op: Op, sign: int) -> list[tuple[int, int]] | None:
    """The inputs with their signs; nothing if it is not a sum, nor anything like it."""
    live = [i for i in op.inputs if flow[i].carries]
    if op.kind is Kind.NEGATE:
        return [(i, -sign) for i in live]
    if op.kind is Kind.ADD or (op.kind in KEEPS_SIGN and live and op.parameter is None):
        return [(i, sign) for i in live]
    if op.kind is Kind.SUBTRACT and len(op.inputs) <= 2:
        signs = (-sign if op.swapped else sign, -sign)
        return [(i, s) for i, s in zip(op.inputs, signs, strict=False) if flow[i].carries]
    if op.kind in SCALES and not op.swapped and 0.0 not in op.numbers:
        return _scaled(flow, op, live, sign)
    return None


def _scaled(flow: Flow, op: Op, live: list[int], sign: int) -> list[tuple[int, int]] | None:
    """What a factor stands before: a number, data such as a mask, a coefficient, or a probability."""
    if len(op.inputs) == 1:
        return [(i, -sign if op.numbers and op.numbers[0] < 0 else sign) for i in live]
    if op.kind is Kind.DIVIDE:
        return [(live[0], sign)] if live == [op.inputs[0]] else None
    if len(op.inputs) != 2:
        return None
    one, two = (flow[i] for i in op.inputs)
    for factor, rest in ((one, two), (two, one)):
        known = coefficient(flow, factor) or int(_is_distribution(flow, factor))
        if rest.carries and known:
            return [(rest.id, sign * known)]
    return None


def coefficient(flow: Flow, op: Op) -> int:
    """The sign of one number for all; 0 for anything else, and where it may have either sign."""
    if prod(op.shape) != 1:
        return 0
    sign = 1
    for _ in range(_NEAR):
        if op.fresh or op.kind in PROBABILITIES:
            break
        if op.parameter is not None or op.kind in (Kind.READ, Kind.SUBTRACT) or len(op.inputs) > 1:
            return 0  # the logarithm of a coefficient, as it is trained, may be negative
        if op.kind is Kind.NEGATE or (op.kind in SCALES and op.numbers and op.numbers[0] < 0):
            sign = -sign
        if not op.inputs:
            break
        op = flow[op.inputs[0]]
    return sign


def _is_distribution(flow: Flow, op: Op) -> bool:
    """Probabilities of all actions: a product with them, summed up, is an expectation."""
    return op.shape[-1:] not in ((), (1,)) and _plain(flow, op).kind in PROBABILITIES


def _entropy(flow: Flow, op: Op) -> tuple[int, bool] | None:
    """Which way this goes with the entropy, and is it by a sample; nothing if it is no entropy."""
    if op.kind is Kind.MULTIPLY and len(op.inputs) == 2 and _is_p_log_p(flow, op):
        return -1, False
    if op.kind is Kind.MULTIPLY and len(op.inputs) == 2 and _is_p_minus_log_p(flow, op):
        return 1, False
    if op.api.endswith(".entropy") and op.kind in (Kind.LOG, Kind.LOGISTIC):
        return 1, False
    if op.kind is Kind.CROSS_ENTROPY and len(op.inputs) > 1 and _of_itself(flow, op):
        return 1, False
    if op.api.endswith("log_prob") and _is_sampled(flow, op):
        return -1, True
    if is_own_distance(flow, op) or is_squashing(flow, op):
        return 1, True  # both are taken away in the log-probability of the policy's own sample
    return None


def _is_p_log_p(flow: Flow, op: Op) -> bool:
    one, two = (flow[i] for i in op.inputs)
    if not (one.carries and two.carries):
        return False
    pairs = ((one, two), (two, one))
    return any(_is_distribution(flow, p) and _is_logarithm(flow, q) for p, q in pairs)


def _is_p_minus_log_p(flow: Flow, op: Op) -> bool:
    """``p * (log(z) - a)`` with ``p = exp(a) / z``, as it is written out to be safe."""
    one, two = (flow[i] for i in op.inputs)
    for p, q in ((one, two), (two, one)):
        negative = q.kind is Kind.SUBTRACT and len(q.inputs) == 2 and _is_log_of_sum(flow, flow[q.inputs[0]])
        if negative and p.carries and _is_distribution(flow, p):
            return True
    return False


def _is_log_of_sum(flow: Flow, op: Op) -> bool:
    """The logarithm of a sum of exponentials, in one operation or in three."""
    if op.kind is Kind.LOG_SUM:
        return True
    total = flow[op.inputs[0]] if op.kind is Kind.LOG and op.inputs else None
    return total is not None and total.kind is Kind.SUM and flow[total.inputs[0]].kind is Kind.EXP


def _is_logarithm(flow: Flow, op: Op) -> bool:
    """The logarithm of probabilities, as a function gives it or a distribution keeps it."""
    here = _plain(flow, op)
    if here.kind is Kind.LOG_SOFTMAX or here.api.endswith(".entropy"):
        return True
    if here.kind is Kind.LOG:
        return any(is_probability(flow, i) for i in here.inputs)
    normalised = here.kind is Kind.SUBTRACT and len(here.inputs) == 2
    return normalised and _is_log_of_sum(flow, flow[here.inputs[1]])


def _plain(flow: Flow, op: Op) -> Op:
    """The value before it was kept from zero, or put into another shape."""
    for _ in range(_NEAR):
        nudged = op.kind in (Kind.ADD, Kind.BOUND) and len(op.inputs) == 1
        shaped = op.kind in (Kind.RESHAPE, Kind.CAST, Kind.COPY, Kind.WIDEN)
        shared = op.kind is Kind.DIVIDE and len(op.inputs) == 2 and flow[op.inputs[1]].kind is Kind.SUM
        if not op.inputs or not (nudged or shaped or shared):
            break
        op = flow[op.inputs[0]]
    return op


def _of_itself(flow: Flow, op: Op) -> bool:
    """``cross_entropy(labels=softmax(logits), logits=logits)``: both are the policy."""
    labels = _plain(flow, flow[op.inputs[1]])
    return labels.carries and labels.kind is Kind.SOFTMAX and flow[op.inputs[0]].carries


def _is_sampled(flow: Flow, op: Op) -> bool:
    """Does the value whose log-probability this is carry gradient, as the policy that gives it does?"""
    todo, seen = [op.id], {op.id}
    while todo and len(seen) < _NEAR * 4:
        here = flow[todo.pop()]
        distance = here.kind in (Kind.SUBTRACT, Kind.LOSS) and len(here.inputs) == 2
        own = distance and here.api.endswith("log_prob") and all(flow[i].carries for i in here.inputs)
        if own and any(flow[i].api.rpartition(".")[2] in ("rsample", "sample") for i in here.inputs):
            return True
        for i in here.inputs:
            if i not in seen and flow[i].api.endswith("log_prob"):
                seen.add(i)
                todo.append(i)
    return False
