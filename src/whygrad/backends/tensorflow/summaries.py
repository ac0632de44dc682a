"""Summaries of TensorFlow's updates: eager ones as they are applied, compiled ones through their boxes."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from whygrad.backends.recording.patches import Patches
from whygrad.backends.recording.records import OptimizerRecord
from whygrad.backends.registry import brief
from whygrad.backends.tensorflow import boxes
from whygrad.backends.tensorflow.boxes import Traced, in_a_branch
from whygrad.backends.tensorflow.memory import name_of, norms, tensors_of, values_of
from whygrad.backends.tensorflow.tapes import current_graph, outermost
from whygrad.watch.stream import Stream
from whygrad.watch.watching import Watching

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.watch import Watch

_MOST = 10_000


class _Thread(threading.local):
    """What has happened in this thread since gradients were last applied."""

    def __init__(self) -> None:
        self.losses: list[Any] = []
        self.raw: dict[int, tuple[Any, Any]] = {}  # id of a clipped tensor -> itself, what it was before


class _Plan:
    """One optimizer: how many updates it has made, and where their summaries go."""

    def __init__(self, record: OptimizerRecord) -> None:
        self.record = record
        self.number = 0
        self.streams: dict[tuple[int, ...], Stream] = {}  # by the variables that are given to it

    @property
    def name(self) -> str:
        """As the user calls it."""
        return self.record.name or self.record.kind


#: A place in a compiled function that is called: its optimizer's plan, the stream if it is due, and how often
#: it has run, if that must be known.
_Call = tuple[Traced, _Plan, Stream | None, int | None]


class Summaries:
    """Stands around everything that applies gradients, and around calls of compiled functions."""

    def __init__(self, watch: Watch, watching: Watching) -> None:
        self._watch, self.watching = watch, watching
        self._plans: dict[int, _Plan] = {}
        self._thread = _Thread()
        self._patches = Patches()

    def install(self) -> None:
        """Clipping has no hook."""
        self._patches.wrap(tf, "clip_by_global_norm", self._clip_all)
        self._patches.wrap(tf, "clip_by_norm", self._clip_one)
        self._patches.wrap(tf, "clip_by_value", self._clip_one)

    def remove(self) -> None:
        """Take it out again."""
        self._patches.restore()

    # -- before gradients are applied ----------------------------------------------------------------

    def _clip_all(self, original: Any) -> Any:
        def clip_by_global_norm(t_list: Any, *args: Any, **kwargs: Any) -> Any:
            t_list = list(t_list)
            result = original(t_list, *args, **kwargs)
            self._clipped(t_list, result[0])
            return result

        return clip_by_global_norm

    def _clip_one(self, original: Any) -> Any:
        def clip(t: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(t, *args, **kwargs)
            self._clipped([t], [result])
            return result

        return clip

    def _clipped(self, given: Sequence[Any], clipped: Sequence[Any]) -> None:
        """Gradients, or anything else: whoever applies them asks what they were before."""
        known = self._thread.raw
        if self._watch.is_resting() or len(known) > _MOST:
            return
        for before, after in zip(given, clipped, strict=False):
            if before is not None and after is not None:
                first = known[id(before)][1] if id(before) in known else before
                known[id(after)] = (after, first)

    def differentiated(self, target: Any) -> None:
        """A tape was asked for the gradient of this."""
        if not self._watch.is_resting() and len(self._thread.losses) < _MOST:
            self._thread.losses.append(target)

    def _loss(self) -> Any:
        """What the gradients are of, if that can be told."""
        losses = self._thread.losses
        if not losses or (len(losses) > 1 and len(self._plans) > 1):
            return None
        flat = [tf.convert_to_tensor(t) for loss in losses for t in tf.nest.flatten(loss)]
        same = [t for t in flat if t.dtype.is_floating and t.shape.rank == 0]
        return tf.add_n(same) if len(same) == len(flat) and len({t.dtype for t in same}) == 1 else None

    def _raw_of(self, gradients: Sequence[Any]) -> list[Any]:
        known = self._thread.raw
        found = [known.get(id(g)) for g in gradients]
        return [f[1] if f is not None and f[0] is g else None for f, g in zip(found, gradients, strict=True)]

    # -- applying ------------------------------------------------------------------------------------

    def begins(
        self, record: OptimizerRecord, gradients: Sequence[Any], variables: Sequence[Any], frame: FrameType
    ) -> Any:
        """Gradients are about to be applied: eager ones are measured if they are due, others get boxes."""
        return self._safely(lambda: self._begins(record, list(gradients), list(variables), frame))

    def _begins(
        self, record: OptimizerRecord, gradients: list[Any], variables: list[Any], frame: FrameType
    ) -> Any:
        plan = self._plan(record.ref(), frame)
        raw, loss = self._raw_of(gradients), self._loss()
        gradients, raw = _by_the_optimizer(record.ref(), gradients, variables, raw)
        graph = current_graph()
        if graph is not None:
            self._trace(graph, Traced(record.ref(), gradients, raw, variables, loss))
            return None
        plan.number += 1
        if not self._due(plan):
            return None
        stream = self._stream(plan, variables, frame)
        before = [0.0 if r is None else norm for r, norm in zip(raw, norms(raw), strict=True)]
        clipped = before if any(r is not None for r in raw) else ()
        stream.begins(tensors_of(gradients, variables), tensors_of(values_of(variables)))
        if clipped:
            now = stream.gradient_norms()
            clipped = [n if r is None else b for r, b, n in zip(raw, before, now, strict=True)]
        return plan, stream, variables, _float(loss), clipped

    def ends(self, begun: Any) -> None:
        """They were applied."""
        self._safely(lambda: self._ends(begun))

    def _ends(self, begun: Any) -> None:
        self._thread.losses.clear()
        self._thread.raw.clear()
        if begun is not None:
            plan, stream, variables, loss, clipped = begun
            self._write(plan, plan.number, stream, variables, loss, clipped)

    def _write(
        self, plan: _Plan, number: int, stream: Stream, variables: Sequence[Any], loss: float, clipped: Any
    ) -> None:
        stream.ends(number, tensors_of(values_of(variables)), loss, rate_of(plan.record.ref()), clipped)
        if self.watching.told is not None:
            self.watching.told(stream)

    def _due(self, plan: _Plan, number: int = 0) -> bool:
        return not self.watching.trouble and self.watching.schedule.due(number or plan.number, plan.name)

    # -- compiled updates ----------------------------------------------------------------------------

    def _trace(self, graph: Any, traced: Traced) -> None:
        traced.branch = in_a_branch(graph)
        for where in dict.fromkeys((graph, outermost(graph))):
            boxes.found(where, traced)

    def called(self, graph: Any, call: Callable[[], Any], frame: FrameType) -> Any:
        """A compiled function is called: what will it update?"""
        places = boxes.PLACES.get(graph) if not self.watching.trouble else None
        if not places or os.getpid() != self._watch.pid:
            return call()
        if not tf.executing_eagerly():  # from within another one that is being traced
            self._safely(lambda: self._nested(places))
            return call()
        due = self._safely(lambda: [self._foreseen(graph, traced, frame) for traced in places]) or ()
        result = call()
        self._safely(lambda: self._all_executed(graph, due))
        return result

    def _nested(self, places: Sequence[Traced]) -> None:
        graph = current_graph()
        for traced in list(places):
            traced.branch = traced.branch or in_a_branch(graph)
            boxes.found(outermost(graph), traced)

    def _foreseen(self, graph: Any, traced: Traced, frame: FrameType) -> _Call:
        """Before the call: if an update of it may be due, remember where the variables are."""
        plan, schedule = self._plan(traced.optimizer(), frame), self.watching.schedule
        before = traced.times() if traced.counted(graph) else None
        first, last = plan.number + 1, plan.number + max(1, traced.last)
        near = not schedule.foreseeable or any(schedule.due(n, plan.name) for n in range(first, last + 1))
        if not near:
            return traced, plan, None, before
        stream = self._stream(plan, traced.variables, frame)
        stream.begins_with(tensors_of(values_of(traced.variables)))
        return traced, plan, stream, before

    def _all_executed(self, graph: Any, due: Sequence[_Call]) -> None:
        for call in due:
            self._executed(graph, *call)

    def _executed(
        self, graph: Any, traced: Traced, plan: _Plan, stream: Stream | None, before: int | None
    ) -> None:
        """After the call: how many updates were there, and was the last one due?"""
        if before is not None:
            traced.ran(graph, traced.times() - before)
        made = traced.last
        numbers = range(plan.number + 1, plan.number + made + 1)
        plan.number += made
        due = [self._due(plan, number) for number in numbers]
        self.watching.late += sum(due[:-1])
        if not due or not due[-1]:
            return
        if stream is None:  # more updates in one call than ever before
            self.watching.late += 1
            return
        raw = traced.raw()
        stream.goes_on(tensors_of(traced.gradients(), traced.variables))
        given = norms(raw)
        clipped = [n if r is None else b for r, b, n in zip(raw, given, stream.gradient_norms(), strict=True)]
        there = clipped if any(r is not None for r in raw) else ()
        self._write(plan, plan.number, stream, traced.variables, _float(traced.loss()), there)

    # -- names ---------------------------------------------------------------------------------------

    def _plan(self, optimizer: Any, frame: FrameType) -> _Plan:
        record = self._watch.applying.record(optimizer)
        plan = self._plans.get(record.key)
        if plan is None:
            if not record.name:
                self._watch.name_things(frame)
            plan = self._plans[record.key] = _Plan(record)
        return plan

    def _stream(self, plan: _Plan, variables: Sequence[Any], frame: FrameType) -> Stream:
        params = [self._watch.recorder.variables.param(v) for v in variables]
        key = tuple(p.key if p is not None else 0 for p in params)
        found = plan.streams.get(key)
        if found is None:
            known = [p for p in params if p is not None]
            self._watch.name_new_things(known, frame)
            names = [
                (p.name if p is not None else "") or name_of(v)
                for p, v in zip(params, variables, strict=True)
            ]
            found = plan.streams[key] = self.watching.stream(plan.name, names)
        return found

    def _safely(self, action: Callable[[], Any]) -> Any:
        """Our own failure is never the user's."""
        if self.watching.trouble:
            return None
        try:
            with self._watch.resting():
                return action()
        except Exception as error:
            self.watching.stop(brief(error))
            return None


def _by_the_optimizer(
    optimizer: Any, gradients: list[Any], variables: Sequence[Any], raw: list[Any]
) -> tuple[list[Any], list[Any]]:
    """The optimizer may clip by itself (``clipnorm=1``): ask it how, and take what it will use."""
    limits = [getattr(optimizer, name, None) for name in ("clipnorm", "clipvalue", "global_clipnorm")]
    clip = getattr(optimizer, "_clip_gradients", None)
    if not any(limits) or clip is None or any(g is None for g in gradients):
        return gradients, raw
    clipped = list(clip(list(gradients)))
    return clipped, [r if r is not None else g for r, g in zip(raw, gradients, strict=True)]


def rate_of(optimizer: Any) -> float:
    """The learning rate, if it is a number now."""
    for name in ("learning_rate", "_learning_rate", "_lr"):
        rate = getattr(optimizer, name, None)
        with suppress(TypeError, ValueError, tf.errors.OpError):
            if rate is not None:
                return float(rate() if callable(rate) and not hasattr(rate, "numpy") else rate)
    return math.nan


def _float(value: Any) -> float:
    return float(value) if value is not None else math.nan
