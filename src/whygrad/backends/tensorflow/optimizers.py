"""Optimizers: what they are given to apply, and which updates to record."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from whygrad.backends.recording import schedule
from whygrad.backends.recording.frames import Where
from whygrad.backends.recording.nodes import Node, Param, clock, cone
from whygrad.backends.recording.records import OptimizerRecord, UpdateRecord
from whygrad.backends.tensorflow import health, private
from whygrad.backends.tensorflow.differentiating import Differentiation, is_zero
from whygrad.backends.tensorflow.mailbox import Mailbox
from whygrad.backends.tensorflow.tapes import current_graph, graph_number, outermost
from whygrad.backends.tensorflow.values import Value, here
from whygrad.backends.tensorflow.variables import handle_of
from whygrad.model import Pulse

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.watch import Watch

_FAR = 400
_MOST_DEAD = 256
_CALLS = 3
_BRANCHING = frozenset(("if", "stateless_if", "case", "stateless_case", "while", "stateless_while"))


class Optimizers:
    """Hooks around everything that applies gradients."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._recorder = watch.recorder
        self._boxes: dict[int, Mailbox] = {}
        self._motion = health.Motion()
        self._compiled: dict[int, list[OptimizerRecord]] = {}  # top graph -> who applies in it

    def made(self, optimizer: Any, where: Where | None) -> OptimizerRecord:
        """A new optimizer."""
        records = self._watch.optimizers
        old = records.pop(id(optimizer), None)
        if old is not None and len(records) < _MOST_DEAD:
            records[-old.key] = old  # a dead optimizer whose address was used again
        record = records[id(optimizer)] = OptimizerRecord(optimizer, where)
        record.lr_always_zero = False
        return record

    def record(self, optimizer: Any) -> OptimizerRecord:
        """The record of an optimizer."""
        record = self._watch.optimizers.get(id(optimizer))
        if record is None or record.ref() is not optimizer:
            record = self.made(optimizer, None)
        return record

    def trained(self, model: Any, frame: FrameType) -> None:
        """``model.fit`` has run: with nothing to train, no gradient was even asked for."""
        optimizer = getattr(model, "optimizer", None)
        if optimizer is None or model.trainable_variables or not model.variables:
            return
        record = self.record(optimizer)
        params = [p for p in map(self._recorder.variables.param, model.variables) if p is not None]
        record.held.update((p.key, p) for p in params)
        record.keys.update((p.key, p.key) for p in params)
        absent = frozenset(p.key for p in params)
        record.absent(absent)
        if not record.updates:
            self._watch.name_new_things(params, frame)
            record.keep(UpdateRecord(1, here(frame), absent, frozenset(), ()))

    def apply(
        self,
        original: Callable[[], Any],
        optimizer: Any,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        frame: FrameType,
    ) -> Any:
        """Run ``apply`` or ``apply_gradients`` and note what it was given."""
        if self._watch.is_resting():  # a wrapper around an optimizer calls the one inside
            return original()
        graph = current_graph()
        start = len(graph.get_operations()) if graph is not None else 0
        record = self._watch.safely(self._begins, optimizer, gradients, variables, frame)
        summaries = self._watch.summaries if record is not None else None
        with self._watch.resting():
            begun = None
            if record is not None and graph is not None:
                self._watch.safely(self._post, record, gradients, variables)
                self._watch.safely(self._watch.looks.place, record, graph, gradients, variables)
            elif summaries is not None:
                begun = summaries.begins(record, gradients, variables, frame)
            result = original()
            if begun is not None and summaries is not None:
                summaries.ends(begun)
            self._watch.given.clear()
        if record is not None and graph is not None:
            self._watch.safely(self._traced, record, graph, start)
        elif record is not None:
            self._watch.safely(self._stepped, record)
            self._watch.stepped()
        return result

    def _begins(
        self, optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], frame: FrameType
    ) -> OptimizerRecord:
        record = self.record(optimizer)
        if not record.held:
            record.before = int(_number(getattr(optimizer, "iterations", None)) or 0)
            record.lr_always_zero = _learning_rate(optimizer) == 0
        params = [self._recorder.variables.param(v) for v in variables]
        known = _built_for(optimizer)
        given = [(g, p, v) for g, p, v in zip(gradients, params, variables, strict=False) if p is not None]
        pairs = [(g, p) for g, p, v in given if not known or handle_of(v) in known]
        rejected = frozenset(p.key for _, p, v in given if known and handle_of(v) not in known)
        for _, param in pairs:
            record.held[param.key] = param
            record.keys[param.key] = param.key
        absent = frozenset(p.key for g, p in pairs if g is None)
        record.changed = absent != record.absent_last
        record.absent_last = absent
        if self._watch.recording():
            absent = self._update(record, pairs, absent, frame)
            record.updates[-1].rejected = rejected
        elif current_graph() is None and record.pulses.due(record.steps + 1):
            self._pulse(record, pairs)
        if record.absent_always is None or record.absent_always:
            record.absent(absent)
        return record

    def _pulse(self, record: OptimizerRecord, pairs: list[tuple[Any, Param]]) -> None:
        """The size of the gradients now and then."""
        largest = health.largest({p.key: g for g, p in pairs if g is not None})
        record.changed = record.pulses.add(Pulse(record.steps + 1, largest)) or record.changed

    def _figures(self, record: OptimizerRecord, update: UpdateRecord, pairs: list[tuple[Any, Param]]) -> None:
        """How large the gradients of an eager update are, and which way they point."""
        there = {p.key: g for g, p in pairs if g is not None}
        update.largest = health.largest(there)
        if not update.largest:
            return
        update.turned = health.turned(record, update.number, there.values())
        record.pulses.add(Pulse(update.number, update.largest))
        with self._watch.resting():
            if _learning_rate(record.ref()) != 0:  # a warm-up may begin with zero
                self._motion.begins(record, update, [p for _, p in pairs])
            if update.zero:
                self._recorder.probe([p for _, p in pairs])

    def _update(
        self,
        record: OptimizerRecord,
        pairs: list[tuple[Any, Param]],
        absent: frozenset[int],
        frame: FrameType,
    ) -> frozenset[int]:
        where = here(frame)
        self._watch.name_new_things([p for _, p in pairs], frame)
        self._watch.look_at_weights()
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
            loose = [b for b in self._watch.differentiating.pending if not b.follower]
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
                record.keys[key] = key
        zero = frozenset(p.key for g, p in pairs if g is not None and is_zero(g))
        update = UpdateRecord(record.steps + 1, where, absent, zero, chosen, record.last_step)
        update.crossed = frozenset(crossed)
        self._clipped(record, update, pairs)
        self._watch.clips.by_optimizer(record, pairs)
        record.keep(update)
        self._figures(record, update, pairs)
        return absent

    def _clipped(self, record: OptimizerRecord, update: UpdateRecord, pairs: list[tuple[Any, Param]]) -> None:
        """Gradients that were there when the tape gave them, and are all zeros now, or will be."""
        optimizer = record.ref()
        limits = [getattr(optimizer, name, None) for name in ("clipnorm", "clipvalue", "global_clipnorm")]
        there = [(g, p) for g, p in pairs if g is not None]
        if any(isinstance(limit, (int, float)) and limit == 0 for limit in limits):
            update.clipped_away, update.clipped_at = frozenset(p.key for _, p in there), record.made
            return
        for gradient, param in there:
            node = (
                self._recorder.node(gradient) if param.key in update.zero and tf.is_tensor(gradient) else None
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
        dense = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        if not tf.is_tensor(dense):
            return []
        todo: list[Node] = [self._recorder.node(dense)]
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
        recent = [b for b in self._watch.differentiating.pending if b.time > record.last_step]
        return [b for b in recent if b.wanted.keys() & absent]

    def taken(self, record: OptimizerRecord) -> int:
        """The steps that an optimizer itself has counted since it was first seen."""
        return int(_number(getattr(record.ref(), "iterations", None)) or 0) - record.before

    def last_look(self) -> None:
        """A learning rate that was zero at first may have grown; compiled steps count themselves."""
        self._watch.settle()
        for record in list(self._watch.optimizers.values()):
            optimizer = record.ref()
            if record.lr_always_zero:
                record.lr_always_zero = _learning_rate(optimizer) == 0
            if record.traced:
                record.steps = max(record.steps, self.taken(record))
                self._watch.looks.last(record)
            record.pulses.at_the_end(
                record.steps, [k for k, p in list(record.held.items()) if health.broken(p)]
            )

    # -- steps -------------------------------------------------------------------------------------

    def _may_be_zero(self, record: OptimizerRecord) -> bool:
        """Only behind conditions and loops can a cut give zeros that tracing does not show."""
        backwards = record.updates[-1].backwards if record.updates else ()
        return any(node.name in _BRANCHING for b in backwards for node in cone(b.roots))

    def _post(self, record: OptimizerRecord, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """Let the compiled update tell us of its gradients."""
        if private.in_xla(current_graph()) or not self._may_be_zero(record):
            return
        params = [self._recorder.variables.param(v) for v in variables]
        pairs = [(g, p) for g, p in zip(gradients, params, strict=False) if g is not None and p is not None]
        if pairs:
            self._boxes[record.key] = Mailbox([p.key for _, p in pairs], [g for g, _ in pairs])

    def _collect(self, record: OptimizerRecord) -> None:
        """Read the box of a compiled update, as long as it is being recorded."""
        box = self._boxes.get(record.key)
        if box is None or record.steps > _CALLS:
            return
        zero = box.zero()
        if zero is not None:
            for update in record.updates:
                update.zero = zero if record.steps == 1 else update.zero & zero
        if record.steps == _CALLS:
            del self._boxes[record.key]

    def _traced(self, record: OptimizerRecord, graph: Any, start: int) -> None:
        """Traced, not taken: steps are counted when the function is called."""
        self._recorder.graphs.optimizing(graph, start)
        record.last_step = clock()
        self._watch.open_window()
        records = self._compiled.setdefault(graph_number(outermost(graph)), [])
        if record not in records:
            records.append(record)
        record.traced = True

    def calm(self, graph: Any) -> Sequence[OptimizerRecord] | None:
        """Who steps in a function that is called, if it is enough to count that."""
        watch, records = self._watch, self._compiled.get(graph_number(graph), ())
        if watch.on_step is not None or os.getpid() != watch.pid:
            return None
        for record in records:
            if record.steps >= record.looked_until:
                return None
        return None if watch.summaries is not None and not watch.summaries.calm(graph) else records

    def passed(self, graph: Any, records: Sequence[OptimizerRecord]) -> None:
        """Such a call is over."""
        for record in records:
            self.count(record)
        if self._watch.summaries is not None:
            self._watch.summaries.passed(graph)

    def executed(self, graph: Any) -> bool:
        """A traced function was called: have optimizers stepped in it?"""
        number = graph_number(graph)
        for backward in self._watch.differentiating.traced.get(number, ()):
            backward.runs += 1
        records = self._compiled.get(number)
        if not records:
            return False
        if not self._watch.is_open:  # all has been seen: somebody only wants to know of every step
            for record in records:
                self.count(record)
            return True
        self._watch.look_at_weights()
        for record in records:
            self.count(record)
            self._collect(record)
        self._watch.clips.collect(done=all(r.steps >= _CALLS for r in records))
        self._close_if_done()
        return True

    def _stepped(self, record: OptimizerRecord) -> None:
        with self._watch.resting():
            self._motion.ends()
        self.count(record)
        if self._watch.recording():
            record.last_step = clock()
            self._recorder.operations = 0
        if schedule.wants(record, record.changed):
            self._watch.open_window()
        else:
            self._close_if_done()

    def count(self, record: OptimizerRecord, steps: int = 1) -> None:
        """It has stepped so often."""
        record.steps += steps
        self._watch.steps += steps
        record.last_step_number = self._watch.steps

    def _close_if_done(self) -> None:
        """A traced update has been seen whole; a few calls show what is done around it."""
        if not self._watch.is_open:
            return
        records = self._watch.optimizers.values()
        tracing = [r for r in records if r.traced and r.steps < _CALLS]
        if not tracing and schedule.satisfied([r for r in records if not r.traced], self._watch.steps):
            self._watch.close_window()


def _built_for(optimizer: Any) -> set[int]:
    """The variables that a Keras 3 optimizer was built for; it takes no others."""
    if not getattr(optimizer, "built", False) or not hasattr(optimizer, "_trainable_variables"):
        return set()
    return {handle_of(v) for v in optimizer._trainable_variables}


def _learning_rate(optimizer: Any) -> float | None:
    """The learning rate if it is a plain number; a schedule is none."""
    rate = getattr(optimizer, "_learning_rate", getattr(optimizer, "learning_rate", None))
    if rate is None:
        rate = getattr(optimizer, "_lr", None)
    if isinstance(rate, (int, float)):
        return float(rate)
    return _number(rate)


def _number(variable: Any) -> float | None:
    """The value of a scalar variable of Keras or TensorFlow."""
    if not handle_of(variable):
        return None
    value = getattr(variable, "value", None)
    with tf.init_scope(), suppress(TypeError, ValueError, tf.errors.OpError):  # not initialised yet
        return float(value() if callable(value) else variable if value is None else value)
    return None
