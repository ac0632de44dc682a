"""Looks at compiled updates: the first few of them, then ever more rarely. Most calls are let through."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whygrad.backends.recording.nodes import Node, cone
from whygrad.backends.recording.records import OptimizerRecord
from whygrad.backends.tensorflow import boxes, health
from whygrad.backends.tensorflow.boxes import Taken, Traced
from whygrad.backends.tensorflow.memory import values_of
from whygrad.backends.tensorflow.summaries import by_the_optimizer, rate_of
from whygrad.backends.tensorflow.tapes import outermost
from whygrad.model import Look, Moved, Pulse, Values

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.watch import Watch

_FIRST = 8
_PAUSE = 128, 1024  # calls between looks, at first and later on: one takes as long as half an update
_ACTIVATIONS = frozenset(("Relu", "Relu6", "Tanh", "Sigmoid"))
_SMALL, _UNKNOWN = 1 << 20, 256  # elements of all of them; a dimension that is not known yet
_MEASURED = 3  # of so many of the first looks, the motion of one is measured


class _Begun(NamedTuple):
    """A call that is looked at."""

    traced: Traced
    record: OptimizerRecord
    mark: list[Any] | None
    before: Sequence[Any]  # a part of each variable


class Looks:
    """Stands around calls of compiled functions that apply gradients."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.wanted = False  # there is something to look at
        self._probed: weakref.WeakKeyDictionary[Traced, list[Node]] = weakref.WeakKeyDictionary()

    def place(
        self, record: OptimizerRecord, graph: Any, gradients: Sequence[Any], variables: Sequence[Any]
    ) -> None:
        """While an update is traced: let it tell of its gradients."""
        summaries, given = self._watch.summaries, self._watch.given
        together = boxes.packs(graph)
        if not together and summaries is None:  # boxes of their own would keep the function from being saved
            return
        gradients = list(gradients)
        raw, loss = given.raw_of(gradients), given.loss(len(self._watch.optimizers))
        if summaries is not None:
            gradients, raw = by_the_optimizer(record.ref(), gradients, variables, raw)
        branch = boxes.in_a_branch(graph)
        suspects = self._suspects(record, graph) if together else {}
        probes = list(suspects.values())
        traced = Traced(record.ref(), gradients, raw, variables, loss, probes, branch)
        self._probed[traced] = list(suspects)
        if summaries is not None and (branch or not together):
            traced.count()
        for where in dict.fromkeys((graph, outermost(graph))):
            boxes.found(where, traced)
        self.wanted = True

    def _suspects(self, record: OptimizerRecord, graph: Any) -> dict[Node, Any]:
        """Results of activations, beyond which there may be nothing but zeros, as far as they are small."""
        backwards = record.updates[-1].backwards if record.updates else ()
        behind = set(cone(root for backward in backwards for root in backward.roots))
        found: dict[Node, Any] = {}
        size = 0
        activations = [op.outputs[0] for op in graph.get_operations() if op.type in _ACTIVATIONS]
        for tensor in activations:
            node = self._watch.recorder.graphs.node(tensor)
            if node in behind and tensor.shape.rank is not None:
                size += math.prod(_UNKNOWN if n is None else n for n in tensor.shape.as_list())
                if size < _SMALL:
                    found[node] = tensor
        return found

    def called(self, graph: Any, call: Callable[[], Any], frame: FrameType) -> Any:
        """A compiled function that applies gradients is called."""
        watch = self._watch
        due = self._due(graph)
        begun = watch.safely(self._begins, graph, due) if due else None
        result = watch.summaries.called(graph, call, frame) if watch.summaries is not None else call()
        if begun:
            watch.safely(self._ends, graph, begun)
        return result

    def _due(self, graph: Any) -> list[tuple[Traced, OptimizerRecord]]:
        found = []
        for traced in boxes.PLACES[graph]:
            optimizer = traced.optimizer()
            record = self._watch.optimizers.get(id(optimizer))
            if record is not None and record.steps >= record.looked_until and record.ref() is optimizer:
                found.append((traced, record))
        return [(traced, record) for traced, record in found if traced.last or traced.branch]

    def _begins(self, graph: Any, due: Sequence[tuple[Traced, OptimizerRecord]]) -> list[_Begun]:
        with self._watch.resting():
            return [self._begin(graph, *pair) for pair in due]

    def _begin(self, graph: Any, traced: Traced, record: OptimizerRecord) -> _Begun:
        mark = traced.mark() if traced.counted(graph) else None
        few = len(record.looks)
        measured = few < _FIRST and few % _MEASURED == 0 and rate_of(traced.optimizer()) != 0
        before = [health.part(value) for value in values_of(traced.variables)] if measured else ()
        return _Begun(traced, record, mark, before)

    def _ends(self, graph: Any, begun: Sequence[_Begun]) -> None:
        with self._watch.resting():
            for call in begun:
                traced, record = call.traced, call.record
                ran = call.mark is None or traced.ran(graph, call.mark)
                taken = traced.take(traced.variables if call.before else ()) if ran else None
                if taken is not None:
                    self._look(record, traced, taken, call.before)
                record.looked_until = record.steps + _pause(record)

    def _look(self, record: OptimizerRecord, traced: Traced, taken: Taken, before: Sequence[Any]) -> None:
        number = max(record.steps + 1, self._watch.applying.taken(record))
        there = self._by_key(traced, taken.gradients)
        largest = health.largest(there)
        broken = record.pulses.add(Pulse(number, largest))
        if broken or len(record.looks) < _FIRST:
            moved = _moved(self._by_key(traced, before), self._by_key(traced, taken.values))
            turned = health.turned(record, number, there.values())
            look = Look(number, largest, moved, turned, health.scalar(taken.loss))
            record.looks = (*record.looks, look)
        if len(record.looks) <= _FIRST and not all(largest.values()):
            for node, probe in zip(self._probed.get(traced, ()), taken.probes, strict=False):
                node.values = _both(node.values, health.values_of(probe))

    def _by_key(self, traced: Traced, things: Sequence[Any]) -> dict[int, Any]:
        """What belongs to each parameter, as far as there is something."""
        params = [self._watch.recorder.variables.param(v) for v in traced.variables]
        pairs = zip(params, things, strict=False)
        return {p.key: thing for p, thing in pairs if p is not None and thing is not None}

    def last(self, record: OptimizerRecord) -> None:
        """What the last update of this optimizer has left."""
        optimizer = record.ref()
        known = {traced for places in list(boxes.PLACES.values()) for traced in places}
        mine = [t for t in known if optimizer is not None and t.optimizer() is optimizer]
        with self._watch.resting():
            for traced in mine:
                taken = traced.take(())
                if taken is not None:
                    largest = health.largest(self._by_key(traced, taken.gradients))
                    record.pulses.add(Pulse(record.steps, largest))


def _both(one: Values | None, other: Values | None) -> Values | None:
    """What was in a value at either time."""
    if one is None or other is None:
        return one or other
    least, most = min(one.least, other.least), max(one.most, other.most)
    return Values(least, most, min(one.nearest, other.nearest))


def _moved(before: dict[int, Any], after: dict[int, Any]) -> dict[int, Moved]:
    found = {}
    for key, old in before.items():
        now = health.part(after[key])
        if now is not None:
            found[key] = Moved(float(np.linalg.norm(now - old)), float(np.linalg.norm(old)))
    return found


def _pause(record: OptimizerRecord) -> int:
    often, seldom = _PAUSE
    return 1 if len(record.looks) < _FIRST else min(max(often, record.steps // 8), seldom)
