"""Which dimension of a value is the batch: the output of a layer has its features last, and rows before."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.flow.layers import adds_bias
from whygrad.model import UNRANKED, Flow, Kind, Op

_FAR = 24
_OTHERWISE = frozenset((Kind.LINEAR, Kind.CHOOSE, Kind.MEAN, Kind.SUM, Kind.LOG_SUM, Kind.PUT, Kind.COLLECT))


@dataclass(frozen=True, slots=True)
class Origin:
    """A layer, and which dimension of its output a dimension of a later value was."""

    layer: Op
    axis: int

    @property
    def features(self) -> bool:
        """Is it the one with the outputs of the layer?"""
        return self.axis == len(self.layer.shape) - 1

    @property
    def rows(self) -> int:
        """How many there are in the first dimension; below zero if it is not known."""
        return self.layer.shape[0]


def is_layer(flow: Flow, op: Op) -> bool:
    """A product with a matrix of weights, or the bias that is added to it; not one for each of many."""
    inner = op
    if adds_bias(flow, op):
        inner = next(flow[i] for i in op.inputs if flow.parameter(i) is None)
    if inner.kind is not Kind.LINEAR:
        return False
    weights = [flow[i] for i in inner.inputs if flow.parameter(i) is not None]
    if inner.inputs and flow.parameter(inner.inputs[0]) is not None and len(flow[inner.inputs[0]].shape) > 1:
        return False  # ``weights @ x``: samples are columns here
    return bool(weights) and all(len(w.shape) <= 2 for w in weights)


def origin(flow: Flow, number: int, axis: int, chosen: bool = False) -> Origin | None:
    """The layer that gave this value, past everything that works element by element or moves dimensions.

    ``chosen``: also past a choice from each row, which leaves the rows where they are.
    """
    for _ in range(_FAR):
        op = flow[number]
        if op.fresh or op.parameter is not None or op.shape == UNRANKED or not 0 <= axis < len(op.shape):
            return None
        if is_layer(flow, op):
            return Origin(op, axis)
        before = _before(flow, op, axis)
        if before is None and chosen and axis == 0 and _is_row_choice(flow, op):
            before = op.inputs[0], 0
        if before is None:
            return None
        number, axis = before
    return None


def _is_row_choice(flow: Flow, op: Op) -> bool:
    """``tf.gather(values, actions, batch_dims=1)``: one dimension less, and as many rows."""
    before = flow[op.inputs[0]].shape if op.kind is Kind.CHOOSE and op.inputs else ()
    return 1 < len(op.shape) == len(before) - 1 and before[:1] == op.shape[:1] and 0 not in op.axes


def _before(flow: Flow, op: Op, axis: int) -> tuple[int, int] | None:
    """The value that this one was made of, and where the dimension was in it."""
    if op.kind is Kind.RESHAPE and len(op.axes) == len(op.shape):
        return op.inputs[0], op.axes[axis]
    if op.kind in (Kind.RESHAPE, Kind.WIDEN):
        return _reshaped(flow, op, axis)
    if op.kind is Kind.PICK and op.inputs and len(flow[op.inputs[0]].shape) == len(op.shape):
        return op.inputs[0], axis
    if op.kind in _OTHERWISE or op.kind is Kind.JOIN:
        return None
    alike = [i for i in op.inputs if flow[i].floating and flow[i].shape == op.shape]
    made = [i for i in alike if not flow[i].fresh and flow[i].inputs]
    trained = [i for i in made if flow[i].carries] or made
    return (trained[0], axis) if trained else None


def _reshaped(flow: Flow, op: Op, axis: int) -> tuple[int, int] | None:
    """The first dimension is still the first if it is as long, and the last the last."""
    if not op.inputs:
        return None
    before, after = flow[op.inputs[0]].shape, op.shape
    if not before or not after or before == UNRANKED:
        return None
    if axis == 0 and before[0] == after[0] and op.kind is Kind.RESHAPE:
        return op.inputs[0], 0
    if axis == len(after) - 1 and before[-1] == after[-1]:
        return op.inputs[0], len(before) - 1
    return None
