"""Looks at compiled updates: the first few of them, then ever more rarely. Most calls are let through."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.figures import Figures
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.tensorflow import numbers, rates
from whygrad.frameworks.tensorflow.addresses import values_of
from whygrad.frameworks.tensorflow.compiled_exit import Exit
from whygrad.frameworks.tensorflow.compiled_gradients import PLACES, Taken, Traced
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.summaries import Summarizing, rate_of
from whygrad.model import Look, Moved, Pulse, Values

_LATE = 16  # late looks at how far an update goes: then every second one is dropped


class _Begun(NamedTuple):
    """A call that is looked at."""

    traced: Traced
    record: OptimizerRecord
    mark: list[Any] | None
    before: Sequence[Any]  # a part of each variable


class CompiledFigures:
    """Stands around calls of compiled functions that apply gradients."""

    def __init__(
        self,
        observer: Summarizing,
        optimizers: Optimizers,
        attention: Attention,
        figures: Figures,
        recorder: Recorder,
        leaving: Exit,
    ) -> None:
        self._observer, self._optimizers, self._attention = observer, optimizers, attention
        self._figures, self._recorder, self._exit = figures, recorder, leaving

    def begins(self, graph: Any, frame: FrameType) -> tuple[Any, Any]:
        """A compiled function that applies gradients is about to be called."""
        observer = self._observer
        due = self._due(graph)
        begun = observer.safely(self._begins, graph, due) if due else None
        return begun, observer.summaries.call_begins(graph, frame) if observer.summaries is not None else ()

    def ends(self, graph: Any, begun: tuple[Any, Any]) -> None:
        """It was called."""
        looked, summarized = begun
        if summarized and self._observer.summaries is not None:
            self._observer.summaries.call_ends(graph, summarized)
        if looked:
            self._observer.safely(self._ends, graph, looked)

    def _due(self, graph: Any) -> list[tuple[Traced, OptimizerRecord]]:
        found = []
        for traced in PLACES[graph]:
            record = self._optimizers.of(traced.optimizer())
            if record is not None and record.steps >= record.looked_until:
                found.append((traced, record))
        return [(traced, record) for traced, record in found if traced.last or traced.branch]

    def _begins(self, graph: Any, due: Sequence[tuple[Traced, OptimizerRecord]]) -> list[_Begun]:
        with self._observer.resting():
            return [self._begin(graph, *pair) for pair in due]

    def _begin(self, graph: Any, traced: Traced, record: OptimizerRecord) -> _Begun:
        mark = traced.mark() if traced.counted(graph) else None
        moving = rate_of(traced.optimizer()) != 0 or not self._attention.looks_closely(record)
        measured = self._attention.measures_call(record) and moving
        before = list(map(self._part, values_of(traced.variables))) if measured else ()
        return _Begun(traced, record, mark, before)

    def _part(self, value: Any) -> Any:
        return numbers.first(value, self._attention.budget.motion)

    def _ends(self, graph: Any, begun: Sequence[_Begun]) -> None:
        with self._observer.resting():
            for call in begun:
                traced, record = call.traced, call.record
                ran = call.mark is None or traced.ran(graph, call.mark)
                taken = traced.take(traced.variables if call.before else ()) if ran else None
                if taken is not None:
                    self._look(record, traced, taken, call.before)
                record.looked_until = self._attention.next_call(record)

    def _look(self, record: OptimizerRecord, traced: Traced, taken: Taken, before: Sequence[Any]) -> None:
        number = max(record.steps + 1, rates.taken(record))
        there = self._by_key(traced, taken.gradients)
        largest = self._figures.largest(there)
        broken = record.pulses.add(Pulse(number, largest))
        if broken or self._attention.looks_closely(record):
            moved = self._moved(self._by_key(traced, before), self._by_key(traced, taken.values))
            turned = self._figures.turned(record, number, there.values())
            look = Look(number, largest, moved, turned, numbers.scalar(taken.loss))
            record.looks = (*record.looks, look)
        elif before:
            moved = self._moved(self._by_key(traced, before), self._by_key(traced, taken.values))
            kept = record.late if len(record.late) < _LATE else record.late[::2]
            record.late = (*kept, Look(number, largest, moved))
        if len(record.looks) <= self._attention.budget.looks and not all(largest.values()):
            for node, probe in zip(self._exit.probed(traced), taken.probes, strict=False):
                node.values = _both(node.values, numbers.values_of(probe))

    def _moved(self, before: dict[int, Any], after: dict[int, Any]) -> dict[int, Moved]:
        pairs = {key: (old, self._part(after[key])) for key, old in before.items()}
        return {
            key: moved for key, pair in pairs.items() if (moved := self._figures.moved(*pair)) is not None
        }

    def _by_key(self, traced: Traced, things: Sequence[Any]) -> dict[int, Any]:
        """What belongs to each parameter, as far as there is something."""
        params = [self._recorder.variables.param(v) for v in traced.variables]
        pairs = zip(params, things, strict=False)
        return {p.key: thing for p, thing in pairs if p is not None and thing is not None}

    def last(self, record: OptimizerRecord) -> None:
        """What the last update of this optimizer has left."""
        optimizer = record.ref()
        known = {traced for places in list(PLACES.values()) for traced in places}
        mine = [t for t in known if optimizer is not None and t.optimizer() is optimizer]
        with self._observer.resting():
            for traced in mine:
                taken = traced.take(())
                if taken is not None:
                    largest = self._figures.largest(self._by_key(traced, taken.gradients))
                    record.pulses.add(Pulse(record.steps, largest))


def _both(one: Values | None, other: Values | None) -> Values | None:
    """What was in a value at either time."""
    if one is None or other is None:
        return one or other
    least, most = min(one.least, other.least), max(one.most, other.most)
    return Values(least, most, min(one.nearest, other.nearest))
