"""Bootstrap targets that are distributions: a projection of ``r + gamma * z`` weighs log-probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.few import few_per_line
from whygrad.flow.paths import ancestors
from whygrad.flow.sums import Addend, Parts
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import PROBABILITIES, SCORES

_NEAR = 4  # operations between a logarithm and what weighs it


def projected(parts: Parts, inside: Iterable[int]) -> Iterator[Bootstrap]:
    """Where the distribution of the next state, moved by the reward, meets the one that is trained."""
    flow = parts.flow
    for op in few_per_line(flow[number] for number in sorted(inside)):
        for target, prediction in _sides(flow, op):
            found = moved(parts, target) if _is_distribution(flow, target, prediction) else None
            if found is not None:
                value, meets = found
                live = target.carries and value.carries
                ahead = Addend(value.id, discounted=True, live=live)
                yield Bootstrap(op, ahead, meets, (Addend(prediction.id),), spread=True)


def _sides(flow: Flow, op: Op) -> Iterator[tuple[Op, Op]]:
    """What weighs, and what is weighed: ``target * log(p)``, or a cross-entropy of the two."""
    if len(op.inputs) != 2:
        return
    one, two = (flow[i] for i in op.inputs)
    if op.kind is Kind.CROSS_ENTROPY:
        yield two, one
    elif op.kind is Kind.MULTIPLY:
        yield from ((a, b) for a, b in ((one, two), (two, one)) if b.carries and _is_log(flow, b))


def _is_log(flow: Flow, op: Op) -> bool:
    for _ in range(_NEAR):
        if op.kind is Kind.LOG or op.kind in SCORES:
            return True
        picked = op.kind in (Kind.PICK, Kind.CHOOSE) and op.inputs  # of each row, by the action
        if len(op.inputs) != 1 and not picked:
            return False
        op = flow[op.inputs[0]]
    return False


def _is_distribution(flow: Flow, target: Op, prediction: Op) -> bool:
    """A row of several numbers for each sample, on both sides."""
    wide = len(target.shape) > 1 and target.shape[-1] not in (0, 1)
    return wide and target.shape == prediction.shape and target.floating


def moved(parts: Parts, target: Op) -> tuple[Op, Op] | None:
    """The probabilities of the next state, and where the reward meets the support that they stand on."""
    flow = parts.flow
    for number in sorted(ancestors(flow, target.id)):
        op = flow[number]
        if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2:
            continue
        for one, two in (op.inputs, op.inputs[::-1]):
            if not parts.behind(one) or parts.behind(two):
                continue
            meets = _support(parts, two)
            if meets is not None and _probable(flow, one):
                return flow[one], meets
    return None


def _probable(flow: Flow, number: int) -> bool:
    return any(flow[n].kind in PROBABILITIES for n in ancestors(flow, number))


def _support(parts: Parts, weights: int) -> Op | None:
    """``r + gamma * z`` among what the weights of a projection were computed from."""
    flow = parts.flow
    for number in ancestors(flow, weights):
        op = flow[number]
        if op.kind is Kind.ADD and len(op.inputs) == 2 and op.floating:
            scaled = [i for i in op.inputs if flow[i].kind is Kind.MULTIPLY and flow[i].floating]
            if len(scaled) == 1 and len(op.shape) > 1:
                return op
    return None
