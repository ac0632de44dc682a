"""Calls on a tape: what was differentiated, with respect to what, and what came back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from types import FrameType
from typing import Any, Protocol

import tensorflow as tf

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.figures import look_back
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param, cone
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming
from whygrad.frameworks.shared.records import BackwardRecord
from whygrad.frameworks.tensorflow import numbers, private
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.shares import COMPILED, measure
from whygrad.frameworks.tensorflow.tapes import current_graph, graph_number, outermost
from whygrad.frameworks.tensorflow.values import Value, dense, here
from whygrad.frameworks.tensorflow.variables import handle_of

_EXITS = 256  # values that have left before a call
_NEAR = 64  # values behind one that may have left


@dataclass(slots=True, eq=False)
class Differentiation(BackwardRecord):
    """One call of ``tape.gradient``."""


class _Observer(Listener, Naming, Protocol): ...


class Differentiating:
    """The recorded calls of late."""

    def __init__(
        self, observer: _Observer, recorder: Recorder, optimizers: Optimizers, attention: Attention
    ) -> None:
        self._observer, self._recorder = observer, recorder
        self._optimizers, self._attention = optimizers, attention
        self.pending: deque[Differentiation] = deque(maxlen=64)
        self.traced: dict[int, list[Differentiation]] = {}  # by the outermost graph
        self.count = 0

    def begins(
        self, original: Callable[..., Any], tape: Any, args: Any, kwargs: Any, frame: FrameType
    ) -> Differentiation | None:
        """``tape.gradient`` or one of its kin is about to run."""
        record: Differentiation | None = self._observer.safely(self._begins, tape, args, kwargs, frame)
        if record is not None:
            self._measure(record, original, tape, args, kwargs)
        return record

    def ends(self, record: Differentiation, args: Any, kwargs: Any, result: Any) -> None:
        """It has run: note what it gave."""
        self._observer.safely(self._ends, record, args, kwargs, result)
        self._recorder.scalars.clear()

    def keeps(self) -> bool:
        """Shall tapes be asked for shares as well? While eager code is recorded."""
        return self._observer.recording() and tf.executing_eagerly() and not self._observer.is_resting()

    def _measure(
        self, record: Differentiation, original: Callable[..., Any], tape: Any, args: Any, kwargs: Any
    ) -> None:
        """Twice per line and no more."""
        target = args[0] if args else kwargs.get("target")
        if not is_a(target, private.EAGER_TENSOR):
            record.unmeasured = COMPILED if private.is_tensor(target) else ""
        elif original.__name__ == "gradient" and self._attention.measures_shares(record.where):
            known = self._recorder.tapes.get(tape)
            others = [serial for serial in self._recorder.tapes.open if known and serial != known.serial]
            if others or not getattr(tape, "_tape", None) or getattr(tape, "_persistent", True):
                record.unmeasured = "the tape could not be asked twice"
                return
            asked = {p.key: v for p in record.wanted.values() if (v := p.ref()) is not None}
            with self._observer.resting():
                found = self._observer.safely(measure, self._recorder, original, tape, target, asked)
            record.shares, record.unmeasured = found or ((), "")

    def _begins(self, tape: Any, args: Any, kwargs: Any, frame: FrameType) -> Differentiation | None:
        if not self._observer.recording():
            return None
        where = here(frame)
        known = self._recorder.tapes.get(tape)
        target = args[0] if args else kwargs.get("target", kwargs.get("targets"))
        graph = current_graph()
        roots = tuple(self._root(t, where) for t in tf.nest.flatten(target) if t is not None)
        sources = tf.nest.flatten(args[1] if len(args) > 1 else kwargs.get("sources", ()))
        params = [p for p in map(self._recorder.variables.param, sources) if p is not None]
        self.count += 1
        since = self._optimizers.last_step()
        exits = tuple(node for node in self._recorder.outside.exits if node.time > since)
        record = Differentiation(where, roots, {}, {p.key: p for p in params}, exits, self.count)
        record.tape, record.asked = known, len(sources)
        record.value = numbers.scalar(target) if len(roots) == 1 else None
        if record.value is not None and not isfinite(record.value):
            look_back(self._recorder.table, roots, numbers.values_of)
        if graph is not None:
            record.runs = 0
            self.traced.setdefault(graph_number(outermost(graph)), []).append(record)
        record.unused = self._unused(graph, roots, since)
        record.ends = self._recorder.ends(since)
        record.acts = tuple(node for node in record.ends if node.shape != () and _through_modes(node))
        self.pending.append(record)
        self._observer.name_new_things(params, frame)
        return record

    def _root(self, target: Any, where: Where | None) -> Node:
        """What is differentiated; a number or an array has lost its past, but may be recognised."""
        if _is_value(target):
            return self._recorder.node(target)
        sources, via = self._recorder.outside.of_data(target)
        root = Value("constant", tuple(sources), where, False)
        root.fresh, root.via = True, via
        return root

    def called(self, record: Differentiation) -> None:
        """Compiled code ran again: what has left on other lines before it is of interest, too."""
        known = {node.where for node in record.exits}
        new = {
            n.where: n for n in self._recorder.outside.exits if n.where not in known and n.time > record.time
        }
        record.exits = (*record.exits, *new.values())[:_EXITS]

    def _unused(self, graph: Any, roots: tuple[Node, ...], since: int) -> tuple[Node, ...]:
        """Scalars that nobody differentiates or computes with."""
        if graph is None:
            found = self._recorder.unused_scalars(since)
        else:
            loose = [
                t
                for op in graph.get_operations()
                for t in op.outputs
                if t.dtype.is_floating and t.shape.rank == 0 and not t.consumers()
            ]
            found = tuple(self._recorder.graphs.node(t) for t in loose[:16])
        return tuple(node for node in found if node not in roots and node.tainted)

    def _ends(self, record: Differentiation, args: Any, kwargs: Any, result: Any) -> None:
        sources = tf.nest.flatten(args[1] if len(args) > 1 else kwargs.get("sources", ()))
        for source, gradient in zip(sources, tf.nest.flatten(result), strict=False):
            param = self._recorder.variables.param(source) if handle_of(source) else None
            if gradient is None:
                if param is None and private.is_tensor(source):
                    record.unconnected = (*record.unconnected, self._recorder.node(source))
                continue
            if param is not None:
                param.asked += 1
                record.reached[param.key] = param
            if private.is_tensor(numbers := dense(gradient)):
                self._result(record, param, numbers)

    def _result(self, record: Differentiation, param: Param | None, gradient: Any) -> None:
        value = Value("gradient", record.roots, record.where, True)
        value.describe(gradient)
        if param is not None:
            value.gradient_of = (record, param.key)
            value.zero = is_zero(gradient)
        self._recorder.put(gradient, value)


def is_zero(gradient: Any) -> bool:
    """Exactly zero everywhere; in traced code nobody can tell yet."""
    values = private.contents(gradient) if is_a(gradient, private.EAGER_TENSOR) else None
    return values is not None and not values.any()


def _through_modes(node: Node) -> bool:
    """Did it come through dropout or batch normalisation?"""
    return any(n.training is not None for n in islice(cone((node,)), _NEAR))


def _is_value(thing: Any) -> bool:
    return private.is_tensor(thing) or bool(handle_of(thing))
