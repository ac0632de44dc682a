"""Optimizers: what they are given to apply, and which updates to record."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple, Protocol

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.figures import Figures
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param, clock, cone
from whygrad.frameworks.shared.objects import listed, shown
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming, Window
from whygrad.frameworks.shared.records import OptimizerRecord, UpdateRecord
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.before_apply import BeforeApply
from whygrad.frameworks.tensorflow.clipping import Clipping, Clips
from whygrad.frameworks.tensorflow.compiled_exit import Exit, Told
from whygrad.frameworks.tensorflow.compiled_figures import CompiledFigures
from whygrad.frameworks.tensorflow.differentiating import Differentiating, Differentiation, is_zero
from whygrad.frameworks.tensorflow.rates import clip_limits, first_seen, learning_rate, taken
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.summaries import Summarizing
from whygrad.frameworks.tensorflow.tapes import current_graph, graph_number, outermost
from whygrad.frameworks.tensorflow.values import Value, dense, here
from whygrad.frameworks.tensorflow.variables import handle_of, variables_in

_FAR = 400
_BRANCHING = frozenset(("if", "stateless_if", "case", "stateless_case", "while", "stateless_while"))


class Applied(NamedTuple):
    """Gradients that are being applied."""

    record: OptimizerRecord
    graph: Any  # that is being traced; nothing in eager code
    start: int  # operations in it before
    summary: Any  # what summaries have begun


class _Observer(Summarizing, Window, Naming, Protocol):
    on_step: Callable[[], None] | None

    def stepped(self) -> None: ...

    def look_at_weights(self) -> None: ...


class Applying:
    """Hooks around everything that applies gradients."""

    def __init__(
        self,
        observer: _Observer,
        optimizers: Optimizers,
        attention: Attention,
        figures: Figures,
        recorder: Recorder,
        differentiating: Differentiating,
        clips: Clips,
        leaving: Exit,
        looks: CompiledFigures,
        before_apply: BeforeApply,
    ) -> None:
        self._observer, self._optimizers, self._attention = observer, optimizers, attention
        self._figures_of, self._recorder, self._differentiating = figures, recorder, differentiating
        self._clips, self._exit, self._looks, self._before_apply = clips, leaving, looks, before_apply
        self._awaiting: list[Clipping] = []  # of the step that is traced: clips whose size is told later
        self._zeros: dict[int, tuple[list[Param | None], Told]] = {}  # who may get nothing but zeros
        self._compiled: dict[int, list[OptimizerRecord]] = {}  # top graph -> who applies in it

    def made(self, optimizer: Any, where: Where | None) -> None:
        """A new optimizer."""
        self._optimizers.made(optimizer, where)

    def trained(self, model: Any, frame: FrameType) -> None:
        """``model.fit`` has run: with nothing to train, no gradient was even asked for."""
        optimizer = shown(model, "optimizer")
        variables = variables_in(model)
        if optimizer is None or listed(shown(model, "trainable_variables")) or not variables:
            return
        record = self._optimizers.record(optimizer)
        params = [p for p in map(self._recorder.variables.param, variables) if p is not None]
        record.held.update((p.key, p) for p in params)
        absent = frozenset(p.key for p in params)
        record.absent(absent)
        if not record.updates:
            self._observer.name_new_things(params, frame)
            record.keep(UpdateRecord(1, here(frame), absent, frozenset(), ()))

    def begins(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], frame: FrameType
    ) -> Applied | None:
        """``apply`` or ``apply_gradients`` is about to run: note what it is given."""
        observer = self._observer
        if observer.is_resting():  # a wrapper around an optimizer calls the one inside
            return None
        graph = current_graph()
        start = len(graph.get_operations()) if graph is not None else 0
        record = observer.safely(self._begins, optimizer, gradients, variables, frame)
        if record is None:
            self._before_apply.clear()
            return None
        begun = None
        with observer.resting():
            if graph is not None:
                observer.safely(self._leave, record, graph, gradients, variables)
            elif observer.summaries is not None:
                begun = observer.summaries.begins(record, gradients, variables, frame)
        return Applied(record, graph, start, begun)

    def ends(self, applied: Applied) -> None:
        """It has run."""
        observer = self._observer
        with observer.resting():
            if applied.summary is not None and observer.summaries is not None:
                observer.summaries.ends(applied.summary)
            self._before_apply.clear()
        if applied.graph is not None:
            observer.safely(self._traced, applied.record, applied.graph, applied.start)
        else:
            observer.safely(self._stepped, applied.record)
            observer.stepped()

    def _begins(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], frame: FrameType
    ) -> OptimizerRecord:
        record = self._optimizers.record(optimizer)
        if not record.held:
            first_seen(record, optimizer)
            record.lr_always_zero = learning_rate(optimizer) == 0
        elif record.lr_always_zero:
            self._rate(record)
        params = [self._recorder.variables.param(v) for v in variables]
        known = _built_for(optimizer)
        given = [(g, p, v) for g, p, v in zip(gradients, params, variables, strict=False) if p is not None]
        pairs = [(g, p) for g, p, v in given if not known or handle_of(v) in known]
        rejected = frozenset(p.key for _, p, v in given if known and handle_of(v) not in known)
        for _, param in pairs:
            record.held[param.key] = param
        absent = frozenset(p.key for g, p in pairs if g is None)
        record.changed = absent != record.absent_last
        record.absent_last = absent
        if self._observer.recording():
            absent = self._update(record, pairs, absent, frame)
            record.updates[-1].rejected = rejected
            self._rests(record)
        elif current_graph() is None and record.pulses.due(record.steps + 1):
            self._pulse(record, pairs)
            self._rests(record)
            self._observer.look_at_weights()
        if record.absent_always is None or record.absent_always:
            record.absent(absent)
        return record

    def _rests(self, record: OptimizerRecord) -> None:
        """An eager step with a learning rate of 0? What a compiled one will have is not known yet."""
        if current_graph() is None:
            with self._observer.resting():
                record.rests(record.held if learning_rate(record.ref()) == 0 else ())

    def _pulse(self, record: OptimizerRecord, pairs: list[tuple[Any, Param]]) -> None:
        """The size of the gradients now and then."""
        there = {p.key: g for g, p in pairs if g is not None}
        record.changed = self._figures_of.pulse(record, there) or record.changed

    def _figures(self, record: OptimizerRecord, update: UpdateRecord, pairs: list[tuple[Any, Param]]) -> None:
        """How large the gradients of an eager update are, and which way they point."""
        there = {p.key: g for g, p in pairs if g is not None}
        update.largest = self._figures_of.largest(there)
        if not update.largest:
            return
        params = [p for _, p in pairs]
        record.doubted = self._recorder.groups.doubt(record.doubted)
        with self._observer.resting():
            moving = learning_rate(record.ref()) != 0
            self._figures_of.step_begins(record, update, there.values(), params, moving)
            if update.zero:
                self._recorder.probe(params)

    def _update(
        self,
        record: OptimizerRecord,
        pairs: list[tuple[Any, Param]],
        absent: frozenset[int],
        frame: FrameType,
    ) -> frozenset[int]:
        where = here(frame)
        self._observer.name_new_things([p for _, p in pairs], frame)
        self._observer.look_at_weights()
        backwards: dict[Differentiation, None] = {}
        crossed = set()
        for gradient, param in pairs:
            if gradient is None:
                continue
            param.trained = True
            param.writer = None
            origins = self._origins(gradient)
            for backward, key in origins:
                backwards[backward] = None
                if key == param.key:
                    backward.applied.add(key)
            if origins and all(key != param.key for _, key in origins):
                crossed.add((param.key, origins[0][1]))
        for backward in self._asked_for(record, absent):
            backwards[backward] = None
        if not backwards:
            loose = [b for b in self._differentiating.pending if not b.follower]
            backwards.update(dict.fromkeys(loose[-1:]))
        chosen = tuple(sorted(backwards, key=lambda b: b.time))
        given = {p.key for _, p in pairs}
        for backward in chosen:
            backward.follower = backward.follower or record.key
            dropped: set[int] = set()  # filtered out by the user, because they are None
            if backward.wanted.keys() & given:
                dropped = backward.wanted.keys() - backward.reached.keys() - given
            absent |= dropped
            for key in dropped:
                record.held[key] = backward.wanted[key]
        zero = frozenset(p.key for g, p in pairs if g is not None and is_zero(g))
        update = UpdateRecord(record.steps + 1, where, absent, zero, chosen, record.last_step)
        update.crossed = frozenset(crossed)
        self._clipped(record, update, pairs)
        self._awaiting = self._clips.by_optimizer(record, pairs)
        record.keep(update)
        self._figures(record, update, pairs)
        return absent

    def _clipped(self, record: OptimizerRecord, update: UpdateRecord, pairs: list[tuple[Any, Param]]) -> None:
        """Gradients that were there when the tape gave them, and are all zeros now, or will be."""
        there = [(g, p) for g, p in pairs if g is not None]
        if 0 in clip_limits(record.ref()).values():
            update.clipped_away, update.clipped_at = frozenset(p.key for _, p in there), record.made
            return
        for gradient, param in there:
            node = (
                self._recorder.node(gradient)
                if param.key in update.zero and private.is_tensor(gradient)
                else None
            )
            if isinstance(node, Value) and node.gradient_of is None and self._was_there(node, param):
                update.clipped_away |= {param.key}
                update.clipped_at = node.where

    def _was_there(self, node: Node, param: Param) -> bool:
        """Does this come from a gradient of the parameter that was not zero?"""
        gradients = [n for n in cone((node,)) if isinstance(n, Value) and n.gradient_of is not None]
        return any(n.gradient_of[1] == param.key and not n.zero for n in gradients)

    def _origins(self, gradient: Any) -> list[tuple[Differentiation, int]]:
        """The calls on a tape that a gradient comes from, through clipping and sums, nearest first."""
        if not private.is_tensor(numbers := dense(gradient)):
            return []
        todo: list[Node] = [self._recorder.node(numbers)]
        seen = set(todo)
        found = []
        while todo and len(seen) < _FAR:
            node = todo.pop(0)
            if isinstance(node, Value) and node.clip is not None:
                node.clip.used = True
            if isinstance(node, Value) and node.gradient_of is not None:
                found.append(node.gradient_of)
                continue
            for source in node.inputs:
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        return found

    def _asked_for(self, record: OptimizerRecord, absent: frozenset[int]) -> list[Differentiation]:
        """Recent calls on a tape that were asked for the variables which got nothing."""
        recent = [b for b in self._differentiating.pending if b.time > record.last_step]
        return [b for b in recent if b.wanted.keys() & absent]

    def last_look(self, records: Sequence[OptimizerRecord]) -> None:
        """A learning rate that was zero at first may have grown; compiled steps count themselves."""
        for record in records:
            self._rate(record)
            if record.traced:
                self._optimizers.at_least(record, taken(record))
                self._looks.last(record)
            self._figures_of.run_ends(record)

    def _rate(self, record: OptimizerRecord) -> None:
        """A rate that was zero at first may have grown; of one that is gone, the last look counts."""
        optimizer = record.ref() if record.lr_always_zero else None
        if optimizer is not None:
            record.lr_always_zero = learning_rate(optimizer) == 0

    # -- steps -------------------------------------------------------------------------------------

    def _may_be_zero(self, record: OptimizerRecord) -> bool:
        """Only behind conditions and loops can a cut give zeros that tracing does not show."""
        backwards = record.updates[-1].backwards if record.updates else ()
        return any(node.name in _BRANCHING for b in backwards for node in cone(b.roots))

    def _leave(
        self, record: OptimizerRecord, graph: Any, gradients: Sequence[Any], variables: Sequence[Any]
    ) -> None:
        """Let the compiled update tell of its gradients whoever wants to know."""
        zeros, clips, self._awaiting = self._may_be_zero(record), self._awaiting, []
        told = self._exit.applied(record, graph, gradients, variables, wanted=zeros or bool(clips))
        if told is None:
            return
        for clip in clips:
            clip.awaits(told)
        if zeros:
            params = [self._recorder.variables.param(v) for v in variables]
            self._zeros[record.key] = (params, told)

    def _collect(self, record: OptimizerRecord) -> None:
        """Which gradients of a compiled update were zero, as long as it is being recorded."""
        if record.key not in self._zeros or record.steps > self._attention.budget.calls:
            return
        params, told = self._zeros[record.key]
        gradients = told()
        if gradients is not None:
            there = [(p, g) for p, g in zip(params, gradients, strict=False) if p is not None]
            zero = frozenset(p.key for p, g in there if g is not None and is_zero(dense(g)))
            for update in record.updates:
                update.zero = zero if record.steps == 1 else update.zero & zero
        if not self._attention.around_calls(record):
            del self._zeros[record.key]

    def _traced(self, record: OptimizerRecord, graph: Any, start: int) -> None:
        """Traced, not taken: steps are counted when the function is called."""
        self._recorder.graphs.optimizing(graph, start)
        record.last_step = clock()
        self._observer.open_window()
        records = self._compiled.setdefault(graph_number(outermost(graph)), [])
        if record not in records:
            records.append(record)
        record.traced = True

    def calm(self, graph: Any) -> Sequence[OptimizerRecord] | None:
        """Who steps in a function that is called, if it is enough to count that."""
        observer, records = self._observer, self._compiled.get(graph_number(graph), ())
        if observer.on_step is not None or os.getpid() != observer.pid:
            return None
        for record in records:
            if record.steps >= record.looked_until:
                return None
        return None if observer.summaries is not None and not observer.summaries.calm(graph) else records

    def passed(self, graph: Any, records: Sequence[OptimizerRecord]) -> None:
        """Such a call is over."""
        for record in records:
            self._optimizers.count(record)
        if self._observer.summaries is not None:
            self._observer.summaries.passed(graph)

    def executed(self, graph: Any) -> bool:
        """A traced function was called: have optimizers stepped in it?"""
        number = graph_number(graph)
        for backward in self._differentiating.traced.get(number, ()):
            backward.runs += 1
            self._differentiating.called(backward)
        records = self._compiled.get(number)
        if not records:
            return False
        if not self._observer.is_open:  # all has been seen: somebody only wants to know of every step
            for record in records:
                self._optimizers.count(record)
            return True
        self._observer.look_at_weights()
        for record in records:
            self._optimizers.count(record)
        with self._observer.resting():
            for record in records:
                self._rate(record)
                self._collect(record)
            self._clips.collect(done=not any(map(self._attention.around_calls, records)))
        self._attention.close_if_done(self._observer)
        return True

    def _stepped(self, record: OptimizerRecord) -> None:
        with self._observer.resting():
            self._figures_of.step_ends()
            if not record.steps:
                record.remembers = _has_moments(record)
        self._recorder.operations = 0
        self._attention.step_taken(record, self._observer)


def _has_moments(record: OptimizerRecord) -> bool:
    """Does it keep numbers for each number of a variable? A count of steps is none."""
    shapes = {param.shape for param in record.held.values() if param.shape}
    return any(_shape(variable) in shapes for variable in variables_in(record.ref()))


def _shape(variable: Any) -> tuple[int, ...]:
    found = shown(variable, "shape")
    return tuple(found) if handle_of(variable) and found is not None else ()


def _built_for(optimizer: Any) -> set[int]:
    """The variables that a Keras 3 optimizer was built for; it takes no others."""
    if shown(optimizer, "built") is not True:
        return set()
    return {handle_of(v) for v in listed(shown(optimizer, "_trainable_variables"))}
