"""What weighs a log-probability: a return, an advantage, and which way round it is."""

from __future__ import annotations

from whygrad.flow.sums import Addend, Parts
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import SAME_NUMBERS

_NEAR = 12
_MOST = 40
_SPREADS = frozenset((Kind.NORM, Kind.ROOT))
_CARRIED = SAME_NUMBERS | {Kind.STOP, Kind.PICK, Kind.JOIN, Kind.PUT, Kind.CONVERT}


def orientation(parts: Parts, factor: Op) -> int:
    """+1 for a return, or a return minus a value; -1 the other way round; 0 if nobody knows."""
    inner = before_standardising(parts.flow, factor)
    addends = [a for a in parts.addends(inner.id) if a.op == 0 or parts.flow[a.op].floating]
    known = [a for a in addends if not a.data or _came_back(parts.flow, a)]
    if not known:
        return _negations(parts.flow, factor)
    rewards = {a.sign for a in addends if a not in known}
    values = {a.sign for a in known if not a.discounted}
    if rewards == {1} and values <= {-1}:
        return 1
    return -1 if rewards == {-1} and values <= {1} else 0


def before_standardising(flow: Flow, op: Op) -> Op:
    """``x`` of ``(x - x.mean()) / (x.std() + 1e-8)``."""
    for _ in range(_NEAR):
        if not op.inputs or op.fresh or op.parameter is not None:
            break
        rows = op.kind is Kind.PICK and op.shape[1:] == flow[op.inputs[0]].shape[1:] and op.shape != ()
        spread = op.kind is Kind.DIVIDE and len(op.inputs) == 2 and _is_spread(flow, op.inputs[1])
        mean = (
            op.kind is Kind.SUBTRACT and len(op.inputs) == 2 and _is_mean_of(flow, op.inputs[1], op.inputs[0])
        )
        if not (rows or spread or mean or op.kind in SAME_NUMBERS or op.kind is Kind.STOP):
            break
        op = flow[op.inputs[0]]
    return op


def _is_spread(flow: Flow, number: int) -> bool:
    op = _plain(flow, flow[number])
    nudged = op.kind in (Kind.ADD, Kind.BOUND) and op.inputs
    return (_plain(flow, flow[op.inputs[0]]) if nudged else op).kind in _SPREADS


def _is_mean_of(flow: Flow, number: int, whole: int) -> bool:
    op = _plain(flow, flow[number])
    return op.kind is Kind.MEAN and _plain(flow, flow[op.inputs[0]]).id == _plain(flow, flow[whole]).id


def _plain(flow: Flow, op: Op) -> Op:
    for _ in range(_NEAR):
        if not op.inputs or op.kind not in SAME_NUMBERS | {Kind.STOP}:
            break
        op = flow[op.inputs[0]]
    return op


def _came_back(flow: Flow, addend: Addend) -> bool:
    """Data that a network gave earlier: values of a rollout, wrapped anew."""
    todo, seen = [addend.op] if addend.op else [], set[int]()
    while todo and len(seen) < _MOST:
        op = flow[todo.pop()]
        if op.kind is Kind.LINEAR:
            return True
        if op.id not in seen and (op.fresh or op.left or op.kind in _CARRIED):
            seen.add(op.id)
            todo.extend(op.inputs)
    return False


def _negations(flow: Flow, op: Op) -> int:
    sign = 1
    for _ in range(_NEAR):
        if op.kind is Kind.PICK and op.inputs and op.floating and not op.fresh:
            op = flow[op.inputs[0]]  # the part of a batch that a shuffled index takes
            continue
        if op.fresh or op.parameter is not None or len(op.inputs) != 1:
            known = op.kind in (Kind.SUBTRACT, Kind.JOIN, Kind.DIVIDE) or not op.floating  # a comparison
            return sign if op.fresh or not op.inputs or known else 0
        if op.kind is Kind.NEGATE or (op.kind is Kind.MULTIPLY and op.numbers and op.numbers[0] < 0):
            sign = -sign
        elif op.kind is Kind.SUBTRACT and op.swapped:
            return 0
        op = flow[op.inputs[0]]
    return 0
