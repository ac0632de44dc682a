"""Summaries of TensorFlow's updates: eager ones as they are applied, compiled ones through their boxes."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Protocol

import tensorflow as tf

from whygrad.frameworks.registry import brief
from whygrad.frameworks.shared.objects import shown, shows
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.tensorflow.addresses import name_of, norms, tensors_of, values_of
from whygrad.frameworks.tensorflow.before_apply import BeforeApply
from whygrad.frameworks.tensorflow.compiled_gradients import PLACES, Traced
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.rates import clip_limits
from whygrad.frameworks.tensorflow.variables import Variables, handle_of
from whygrad.summaries.stream import Stream
from whygrad.summaries.watching import Watching


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


class _Place:
    """A place in a compiled function, as this run summarizes it."""

    def __init__(self, plan: _Plan) -> None:
        self.plan = plan
        self.stream: Stream | None = None  # once an update was due
        self.begun = False  # the variables were measured before this call
        self.before: list[Any] | None = None  # its mark, if it must be known how often it runs


class _Observer(Listener, Naming, Protocol): ...


class Summaries:
    """Stands around everything that applies gradients, and around calls of compiled functions."""

    def __init__(
        self,
        observer: _Observer,
        optimizers: Optimizers,
        variables: Variables,
        before_apply: BeforeApply,
        watching: Watching,
    ) -> None:
        self._observer, self._optimizers = observer, optimizers
        self._variables, self._before_apply, self.watching = variables, before_apply, watching
        self._plans: dict[int, _Plan] = {}
        self._places: weakref.WeakKeyDictionary[Traced, _Place] = weakref.WeakKeyDictionary()

    # -- applying ------------------------------------------------------------------------------------

    def begins(
        self, record: OptimizerRecord, gradients: Sequence[Any], variables: Sequence[Any], frame: FrameType
    ) -> Any:
        """Gradients are about to be applied in eager code: they are measured if they are due."""
        return self._safely(lambda: self._begins(record, list(gradients), list(variables), frame))

    def _begins(
        self, record: OptimizerRecord, gradients: list[Any], variables: list[Any], frame: FrameType
    ) -> Any:
        plan, noted = self._plan(record.ref(), frame), self._before_apply
        plan.number += 1
        if not self._due(plan):
            return None
        loss = noted.loss(len(self._plans))
        gradients, raw = by_the_optimizer(record.ref(), gradients, variables, noted.raw_of(gradients))
        stream = self._stream(plan, variables, frame)
        stream.begins(tensors_of(gradients, variables), tensors_of(values_of(variables)))
        return plan, stream, variables, _float(loss), _before_clip(raw, stream)

    def ends(self, begun: Any) -> None:
        """They were applied."""
        self._safely(lambda: self._ends(begun))

    def _ends(self, begun: Any) -> None:
        if begun is not None:
            plan, stream, variables, loss, clipped = begun
            rate = _rate(plan.record.ref())
            now = values_of([*variables, *_readable(rate)])
            self._write(plan, stream, now, rate, loss, clipped)

    def _write(
        self, plan: _Plan, stream: Stream, now: list[Any], rate: Any, loss: float, clipped: Sequence[float]
    ) -> None:
        """``now`` is what the variables hold after the update, and the learning rate if it is one of them."""
        many = len(stream.variables)
        number = _float(now[many]) if now[many:] else _number(rate)
        stream.ends(plan.number, tensors_of(now[:many]), loss, number, clipped)
        if self.watching.told is not None:
            self.watching.told(stream)

    def _due(self, plan: _Plan, number: int = 0) -> bool:
        return not self.watching.trouble and self.watching.schedule.due(number or plan.number, plan.name)

    # -- compiled updates ----------------------------------------------------------------------------

    def call_begins(self, graph: Any, frame: FrameType) -> tuple[Traced, ...]:
        """A compiled function is about to be called: what will it update?"""
        places = tuple(PLACES.get(graph, ()))
        if not places or self.watching.trouble or os.getpid() != self._observer.pid:
            return ()
        self._safely(lambda: self._foresee(graph, places, frame))
        return places

    def call_ends(self, graph: Any, places: Sequence[Traced]) -> None:
        """It was called."""
        self._safely(lambda: self._executed(graph, places))

    def calm(self, graph: Any) -> bool:
        """Is it known how many updates a call will make, and that none of them is due?"""
        places = PLACES.get(graph, ())
        many = _most(places)
        for traced in places:
            place = self._places.get(traced)
            if place is None or traced.counted(graph):
                return False
            if self.watching.schedule.near(place.plan.number, many):
                return False
        return True

    def passed(self, graph: Any) -> None:
        """Such a call is over."""
        for traced in PLACES.get(graph, ()):
            self._places[traced].plan.number += traced.last

    def _foresee(self, graph: Any, places: Sequence[Traced], frame: FrameType) -> None:
        """Before the call: if an update of it may be due, remember where the variables are."""
        many = _most(places)
        for traced in places:
            place = self._places.get(traced)
            if place is None:
                place = self._places[traced] = _Place(self._plan(traced.optimizer(), frame))
            place.before = traced.mark() if traced.counted(graph) else None
            place.begun = self.watching.schedule.near(place.plan.number, many)
            if place.begun:
                variables = traced.variables
                if place.stream is None:
                    place.stream = self._stream(place.plan, variables, frame)
                place.stream.begins_with(tensors_of(values_of(variables)))

    def _executed(self, graph: Any, places: Sequence[Traced]) -> None:
        """After the call: how many updates were there, and was the last one due?"""
        for traced in places:
            place = self._places[traced]
            if place.before is not None:
                traced.ran(graph, place.before)
            first = place.plan.number + 1
            place.plan.number += traced.last
            due = [self._due(place.plan, number) for number in range(first, first + traced.last)]
            seen = bool(due and due[-1] and place.begun)  # more updates than ever before were not foreseen
            self.watching.late += sum(due) - seen
            if seen and place.stream is not None:
                self._take(traced, place.plan, place.stream)

    def _take(self, traced: Traced, plan: _Plan, stream: Stream) -> None:
        variables, rate = traced.variables, _rate(traced.optimizer())
        taken = traced.take([*variables, *_readable(rate)])
        if taken is None:
            return
        stream.goes_on(tensors_of(taken.gradients, variables))
        self._write(plan, stream, taken.values, rate, _float(taken.loss), _before_clip(taken.raw, stream))

    # -- names ---------------------------------------------------------------------------------------

    def _plan(self, optimizer: Any, frame: FrameType) -> _Plan:
        record = self._optimizers.record(optimizer)
        plan = self._plans.get(record.key)
        if plan is None:
            if not record.name:
                self._observer.name_things(frame)
            plan = self._plans[record.key] = _Plan(record)
        return plan

    def _stream(self, plan: _Plan, variables: Sequence[Any], frame: FrameType) -> Stream:
        params = [self._variables.param(v) for v in variables]
        key = tuple(p.key if p is not None else 0 for p in params)
        found = plan.streams.get(key)
        if found is None:
            known = [p for p in params if p is not None]
            self._observer.name_new_things(known, frame)
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
            with self._observer.resting():
                return action()
        except Exception as error:
            self.watching.stop(brief(error))
            return None


class Summarizing(Listener, Protocol):
    """Somebody who summarizes updates, as long as that is wanted."""

    @property
    def summaries(self) -> Summaries | None:
        """If it is wanted now."""


def by_the_optimizer(
    optimizer: Any, gradients: list[Any], variables: Sequence[Any], raw: list[Any]
) -> tuple[list[Any], list[Any]]:
    """The optimizer may clip by itself (``clipnorm=1``): ask it how, and take what it will use."""
    clip = shown(optimizer, "_clip_gradients")
    if not any(clip_limits(optimizer).values()) or clip is None or any(g is None for g in gradients):
        return gradients, raw
    clipped = list(clip(list(gradients)))
    return clipped, [r if r is not None else g for r, g in zip(raw, gradients, strict=True)]


def _before_clip(raw: Sequence[Any], stream: Stream) -> Sequence[float]:
    """The norms of all gradients before some of them were clipped; none if none was."""
    if all(r is None for r in raw):
        return ()
    known = zip(raw, norms(raw), stream.gradient_norms(), strict=True)
    return [now if r is None else before for r, before, now in known]


def _most(places: Sequence[Traced]) -> int:
    """How many updates a call makes, as far as is known: it may be several of one optimizer."""
    return sum([max(1, traced.last) for traced in places])


def rate_of(optimizer: Any) -> float:
    """The learning rate, if it is a number now."""
    return _number(_rate(optimizer))


def _rate(optimizer: Any) -> Any:
    """A number, a variable, or something that is called."""
    for name in ("learning_rate", "_learning_rate", "_lr"):
        rate = shown(optimizer, name)
        if rate is not None:
            return rate
    return None


def _readable(rate: Any) -> list[Any]:
    """A variable can be read with the others."""
    return [rate] if handle_of(rate) else []


def _number(rate: Any) -> float:
    with suppress(TypeError, ValueError, tf.errors.OpError):
        return float(rate() if callable(rate) and not shows(rate, "numpy") else rate)
    return math.nan


def _float(value: Any) -> float:
    return float(value) if value is not None else math.nan
