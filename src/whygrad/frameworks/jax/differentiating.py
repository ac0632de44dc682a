"""Calls that differentiate: which values they were asked for, what the loss was, what came out."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any, Protocol

import jax

from whygrad.frameworks.jax import loops, private
from whygrad.frameworks.jax.calls import Calls
from whygrad.frameworks.jax.lineages import Lineages
from whygrad.frameworks.jax.ports import Listener
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.jax.values import Value, here, unwrap
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param, cone
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming
from whygrad.frameworks.shared.records import BackwardRecord

_EXITS = 256
_FAR = 20_000


@dataclass(slots=True, eq=False)
class Differentiation(BackwardRecord):
    """One call of ``value_and_grad``, or of its kin."""

    tag: Any = None
    leaves: dict[Node, Param] = field(default_factory=dict)  # what stands for what was asked for
    order: list[tuple[int, Any]] = field(default_factory=list)  # keys, with the shape
    names: tuple[str, ...] = ()  # of the arguments, as the function writes them
    captured: dict[int, int] = field(default_factory=dict)  # taken from outside by a traced function: version
    frame: Any = None  # the innermost function that is traced
    repeats: int = 1
    alone: bool = False  # traced while nothing around it was recorded


class _Observer(Listener, Naming, Protocol):
    def wakes(self) -> bool: ...

    def in_window(self) -> bool: ...


class Differentiating:
    """The recorded calls of late."""

    def __init__(
        self,
        observer: _Observer,
        recorder: Recorder,
        lineages: Lineages,
        optimizers: Optimizers,
        calls: Calls,
    ) -> None:
        self._observer, self._recorder = observer, recorder
        self._lineages, self._optimizers, self._calls = lineages, optimizers, calls
        self.pending: deque[Differentiation] = deque(maxlen=64)
        self.count = 0
        self.stale: dict[int, Where] = {}  # parameters that a compiled function holds an old version of
        self.on_unseen: Callable[[FrameType], None] = lambda frame: None  # a call that is not recorded
        self.open: list[Differentiation] = []
        self._of_vjp: weakref.WeakKeyDictionary[Any, Differentiation] = weakref.WeakKeyDictionary()
        self._last: Differentiation | None = None

    def begins(self, primals: Sequence[Any], frame: FrameType) -> Differentiation | None:
        """Values are about to be differentiated with respect to."""
        if not self._observer.recording() and not self._observer.wakes():
            self.on_unseen(frame)
            return None
        where = here(frame)
        self.count += 1
        record = Differentiation(where, (), {}, {}, (), self.count)
        record.tape = record
        since = self._optimizers.last_step()
        record.exits = tuple(n for n in self._recorder.outside.exits if n.time > since)[-_EXITS:]
        staged = private.staging()
        for primal in primals:
            if not private.floating(primal):
                record.order.append((0, None))
                continue
            param = self._lineages.asked(primal, where)
            record.wanted[param.key] = param
            base = unwrap(primal)[0]
            if staged and where is not None and is_a(base, private.ARRAY):
                record.captured[param.key] = self._lineages.versions.get(param.key, 0)
            record.order.append((param.key, None))
            param.asked += 1
        record.asked = len(primals)
        if staged:
            record.alone = not self._observer.in_window()
            self._calls.differentiates(record, loops.rounds())
        self.pending.append(record)
        self._observer.name_new_things(record.wanted.values(), frame)
        return record

    def entered(self, record: Differentiation, primals: Sequence[Any], tracers: Sequence[Any]) -> None:
        """The function is called with these tracers."""
        self.open.append(record)
        for (key, _), primal, tracer in zip(record.order, primals, tracers, strict=False):
            if not key or not is_a(tracer, private.TRACER):
                continue
            param = record.wanted[key]
            base, tags, _ = unwrap(tracer)
            record.tag = tags[0] if tags else None
            node = Value("parameter", (), record.where, True)
            node.parameter, node.tainted, node.passes = param, True, True
            node.shape, node.asked_by = private.shape_of(tracer) or (), record
            node.time = self._recorder.node(primal).time
            param.used = True
            record.leaves[node] = param
            self._recorder.put_base(base, tags, node)

    def left(self, record: Differentiation, answer: Any, has_aux: bool) -> None:
        """The function has returned: this is the loss."""
        loss = answer[0] if has_aux and type(answer) in (tuple, list) and answer else answer
        roots = [v for v in jax.tree_util.tree_leaves(loss) if private.shape_of(v) is not None]
        record.roots = tuple(self._recorder.node(v, record.where) for v in roots)
        known = set(record.roots)
        behind = set(islice(cone(record.roots), _FAR))
        record.unused = tuple(
            v
            for v in self._recorder.scalars
            if v not in known and v not in behind and not v.consumed
            if any(n in record.leaves for n in islice(cone((v,)), _FAR))
        )[:16]

    def ended(self, record: Differentiation, used: Sequence[bool] | None) -> None:
        """All of it is over; ``used`` says of what was asked for whether gradient arrives there."""
        self._close(record)
        if used is None:
            return
        for (key, _), arrives in zip(record.order, used, strict=False):
            if key and arrives:
                record.reached[key] = record.wanted[key]
        self._last = record

    def failed(self, record: Differentiation, error: BaseException) -> None:
        """It raised."""
        self._close(record)
        record.error = str(error)

    def _close(self, record: Differentiation) -> None:
        if record in self.open:
            self.open.remove(record)
        if record.tag is not None:
            self._recorder.forget(record.tag)

    def called(self, record: BackwardRecord) -> None:
        """A compiled function that differentiates was called: are the values that it holds those of today?"""
        if isinstance(record, Differentiation) and record.where is not None:
            for key, version in record.captured.items():
                if self._lineages.versions.get(key, 0) > version:
                    self.stale.setdefault(key, record.where)

    # -- what comes out ----------------------------------------------------------------------------

    def handed_out(self, function: Any) -> None:
        """``vjp`` gives a function that gives the gradients."""
        if self._last is not None and private.VJP is not None and is_a(function, private.VJP):
            self._of_vjp[function] = self._last
        self._last = None

    def gradients(self, function: Any, result: Any, frame: FrameType) -> None:
        """That function was called."""
        record = self._of_vjp.get(function)
        if record is None or not self._observer.recording():
            return
        for (key, _), gradient in zip(record.order, jax.tree_util.tree_leaves(result), strict=False):
            if key:
                self._gradient(record, key, gradient)

    def _gradient(self, record: Differentiation, key: int, gradient: Any) -> None:
        value = Value("gradient", record.roots, record.where, True)
        value.shape, value.floating = private.shape_of(gradient) or (), True
        value.gradient_of = (record, key)
        value.graded = True
        self._recorder.put(gradient, value)
