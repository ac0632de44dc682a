"""From layer to layer to loss: who feeds whom, with nothing in between but plain operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whygrad.flow.paths import is_data, stops
from whygrad.model import Flow, Op

_MOST = 4  # ways of one layer to one value that are told apart by their cuts


@dataclass(frozen=True, slots=True)
class Way:
    """The operations from a layer on, the last one first."""

    op: Op
    before: Way | None = None
    cut: bool = False  # no gradient comes back through this operation
    first_cut: Op | None = None
    asks: bool = True  # the layer's output carries gradient: something up to there wants one

    def then(self, op: Op) -> Way:
        """One operation further."""
        cut = stops(self.op, op)
        return Way(op, self, cut, self.first_cut or (op if cut else None), self.asks)

    def unrolled(self) -> tuple[tuple[Op, ...], tuple[int, ...]]:
        """The operations, the layer's first, and where among them the cuts are."""
        ways = []
        way: Way | None = self
        while way is not None:
            ways.append(way)
            way = way.before
        ways.reverse()
        return tuple(w.op for w in ways), tuple(n for n, w in enumerate(ways) if w.cut)


#: What arrives at a value: (layer, line of the first cut) -> the way.
_Front = dict[tuple[str, object], Way]


def fronts(
    flow: Flow, ends: Sequence[int], layer_of: Mapping[int, str]
) -> tuple[dict[int, list[tuple[str, Way]]], list[tuple[str, str, Way]]]:
    """The layers that feed each end directly, and the layers that feed each other on the way."""
    known: dict[int, _Front] = {}
    between: dict[tuple[str, str, object], Way] = {}
    for here in _in_order(flow, ends):
        op = flow[here]
        arriving = _arriving(flow, op, known)
        layer = _layer(flow, op, layer_of)
        if layer is None:
            known[here] = arriving
            continue
        for (source, cut), way in arriving.items():
            if source != layer:
                between.setdefault((source, layer, cut), way)
        own = [w for (source, _), w in arriving.items() if source == layer]
        known[here] = {(layer, None): _start(flow, op, own)}
    ways = {end: [(source, way) for (source, _), way in known.get(end, {}).items()] for end in ends}
    return ways, [(source, layer, way) for (source, layer, _), way in between.items()]


def _start(flow: Flow, op: Op, own: list[Way]) -> Way:
    """A layer's output. What its parameters carry and this does not was cut right here."""
    if op.parameter is not None:
        return Way(op, asks=op.carries)
    cut = any(stops(flow[i], op) for i in op.inputs if flow.parameter(i) is not None)
    cut = cut or any(way.first_cut is not None and not op.carries for way in own)
    return Way(op, Way(flow[op.inputs[0]]) if op.inputs else None, cut, op if cut else None, op.carries)


def _arriving(flow: Flow, op: Op, known: Mapping[int, _Front]) -> _Front:
    found: _Front = {}
    many: dict[str, int] = {}
    for there in op.inputs:
        if is_data(flow[there], op):
            continue
        for (source, _), way in known.get(there, {}).items():
            longer = way.then(op)
            cut = longer.first_cut.site or longer.first_cut.id if longer.first_cut is not None else None
            if (source, cut) not in found and many.get(source, 0) < _MOST:
                found[source, cut] = longer
                many[source] = many.get(source, 0) + 1
    return found


def _layer(flow: Flow, op: Op, layer_of: Mapping[int, str]) -> str | None:
    """The layer that an operation belongs to: it is, or takes, a parameter of it."""
    for value in (op.id, *op.inputs):
        key = flow.parameter(value)
        if key is not None and key in layer_of:
            return layer_of[key]
    return None


def _in_order(flow: Flow, ends: Sequence[int]) -> list[int]:
    """Everything that the ends were computed from, inputs first."""
    order: list[int] = []
    state: dict[int, bool] = {}
    todo = [(end, False) for end in ends]
    while todo:
        here, ready = todo.pop()
        if ready:
            order.append(here)
        elif here not in state:
            state[here] = True
            todo.append((here, True))
            todo += [(there, False) for there in flow[here].inputs if there not in state]
    return order
