"""Gradients that are limited: by ``tf.clip_by_global_norm`` and its kin, or by the optimizer itself."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import sqrt
from types import FrameType
from typing import Any

import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param, clock
from whygrad.frameworks.shared.objects import is_a, listed
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.shared.records import ClipRecord, OptimizerRecord
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.compiled_exit import Exit, Told
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.rates import clip_limits
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.values import Value, dense, here, number_in

_MOST = 512
_TIGHT = 0.01
_NEAR = 12  # operations between a gradient and a clip of it
_THRESHOLDS = {
    "clip_by_global_norm": "clip_norm",
    "clip_by_norm": "clip_norm",
    "clip_by_value": "clip_value_max",
}


@dataclass(slots=True, eq=False)
class Clipping(ClipRecord):
    """One call that clips, or all calls of one line in a loop over gradients."""

    used: bool = False  # somebody computed with the result, or applied it
    results: list[Value] = field(default_factory=list)
    symbols: list[Any] = field(default_factory=list)  # weak references to traced results
    measure: str = ""  # what is compared with the threshold
    compiled: bool = False  # its gradients are known when the code has run
    told: list[Told] = field(default_factory=list)

    def awaits(self, told: Told) -> None:
        """It is known when the compiled code has run."""
        self.told.append(told)
        self.compiled = True


class Clips:
    """What was clipped lately."""

    def __init__(self, observer: Listener, recorder: Recorder, optimizers: Optimizers, leaving: Exit) -> None:
        self._observer, self._recorder, self._optimizers = observer, recorder, optimizers
        self._exit = leaving
        self._records: deque[Clipping] = deque(maxlen=_MOST)

    def install(self, patches: Patches) -> None:
        """Watch the functions, wherever TensorFlow keeps them."""
        for owner in {
            id(m): m for m in (tf, tf.compat.v1, tf.compat.v2, private.CLIPS) if m is not None
        }.values():
            for name in _THRESHOLDS:
                patches.wrap(owner, name, self._clip(name))

    def _clip(self, name: str) -> Callable[[Any], Any]:
        def make(original: Any) -> Any:
            @door
            def clip(*args: Any, **kwargs: Any) -> Any:
                observer, nodes = self._observer, None
                try:
                    if observer.recording() and not observer.is_resting():
                        given = args[0] if args else kwargs.get("t_list", kwargs.get("t"))
                        nodes = observer.safely(self._gradients, given)
                except Exception as error:
                    observer.stepped_aside(error)
                if not nodes:
                    return original(*args, **kwargs)
                observer.thread.resting += 1
                try:
                    result = original(*args, **kwargs)
                finally:
                    observer.thread.resting -= 1
                try:
                    number = 1 if name != "clip_by_value" else 2
                    limit = args[number] if len(args) > number else kwargs.get(_THRESHOLDS[name])
                    observer.safely(self._clipped, name, nodes, given, limit, result, sys._getframe(1))
                except Exception as error:
                    observer.stepped_aside(error)
                return result

            return clip

        return make

    def _gradients(self, given: Any) -> list[tuple[Node, Any, int] | None]:
        """Per tensor its node, the call on a tape that it comes from, and whose gradient it is."""
        found: list[tuple[Node, Any, int] | None] = []
        for tensor in _list(given):
            if tensor is None:
                found.append(None)
                continue
            numbers = dense(tensor)
            node = self._recorder.node(numbers) if private.is_tensor(numbers) else None
            origin = _origin(node) if node is not None else None
            if node is None or origin is None:
                return []
            found.append((node, *origin))
        return found if any(found) else []

    def _clipped(
        self, name: str, nodes: list[Any], given: Any, limit: Any, result: Any, frame: FrameType
    ) -> None:
        where = here(frame)
        kind = "value" if name == "clip_by_value" else "norm"
        tensors = _list(given)
        record = self._record(where, kind, {key for n in nodes if n for key in (n[2],)})
        record.threshold = _number(limit)
        record.measure = kind if name != "clip_by_global_norm" else "global norm"
        before = largest(tensors, record.measure)
        record.before = max(filter(None, (record.before, before)), default=None)
        if before is None and self._doubtful(record):
            self._ask(record, tensors)
        results = _list(result[0] if name == "clip_by_global_norm" else result)
        for known, tensor in zip(nodes, results, strict=False):
            if known is not None:
                node, backward, key = known
                self._touch(record, backward, key)
                self._result(record, node, tensor, where)

    def _record(self, where: Where | None, kind: str, keys: set[int]) -> Clipping:
        """A loop over gradients is one clip; the same gradients again are another."""
        last = self._records[-1] if self._records else None
        if last is None or last.where is not where or last.kind != kind or last.touched.keys() & keys:
            last = Clipping(where, clock(), kind)
            self._records.append(last)
        return last

    def _touch(self, record: Clipping, backward: Any, key: int) -> None:
        record.touched[key] = backward.wanted[key]
        record.present.add(key)
        if key not in backward.applied:
            record.fresh |= {key}

    def _result(self, record: Clipping, node: Node, tensor: Any, where: Where | None) -> None:
        numbers = dense(tensor)
        value = Value("clip", (node,), where, True)
        value.clip = record
        value.describe(numbers)
        self._recorder.put(numbers, value)
        if is_a(numbers, private.EAGER_TENSOR):
            record.results.append(value)
        else:
            record.symbols.append(weakref.ref(numbers))

    def _doubtful(self, record: Clipping) -> bool:
        """Is it worth asking compiled code? With a tight threshold, or if an optimizer clips, too."""
        tight = record.threshold is not None and record.threshold <= _TIGHT
        return tight or any(clip_limits(r.ref()) for r in self._optimizers.all())

    def _ask(self, record: Clipping, gradients: Iterable[Any]) -> None:
        there = [g for g in gradients if g is not None]
        told = self._exit.clipped(there) if there else None
        if told is not None:
            record.awaits(told)

    def collect(self, done: bool) -> None:
        """A compiled update has run: see what it was given; ``done``: for the last time."""
        for record in self._records:
            for told in record.told:
                found = largest(told() or (), record.measure)
                record.before = max(filter(None, (record.before, found)), default=None)
            if done:
                record.told.clear()

    def by_optimizer(self, record: OptimizerRecord, pairs: Sequence[tuple[Any, Param]]) -> list[Clipping]:
        """``Adam(clipnorm=1.0)``: the step that is about to be taken clips. Those of unknown size."""
        there = [(g, p) for g, p in pairs if g is not None]
        found = []
        for kind, limit in clip_limits(record.ref()).items() if there else ():
            clip = Clipping(record.made, clock(), kind.rpartition(" ")[2], limit)
            clip.measure = kind
            clip.before = largest([g for g, _ in there], kind)
            clip.touched = {p.key: p for _, p in there}
            clip.present, clip.fresh, clip.used = set(clip.touched), frozenset(clip.touched), True
            self._records.append(clip)
            found.append(clip)
        return [clip for clip in found if clip.before is None]

    def records(self) -> list[ClipRecord]:
        """All of them, but for what was traced and never run."""
        return [_as_of_now(r) for r in list(self._records) if not r.compiled or r.before is not None]


def _as_of_now(record: Clipping) -> Clipping:
    """What nobody has used was dropped, or came when the step was already taken; it may be used later."""
    if record.used or any(v.consumed for v in record.results) or _needed(record.symbols):
        return record
    other = copy(record)
    other.kind, other.awaited = ("dropped", record.awaited) if record.fresh else (record.kind, True)
    return other


def _origin(start: Node) -> tuple[Any, int] | None:
    """The call on a tape that gave a value, and whose gradient it is; nothing if it is none."""
    todo, seen = [start], {start}
    while todo and len(seen) <= _NEAR:
        node = todo.pop(0)
        if isinstance(node, Value) and node.gradient_of is not None:
            backward, key = node.gradient_of
            return backward, key
        if node.parameter is not None:
            return None
        for source in node.inputs:
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return None


def largest(tensors: Iterable[Any], kind: str) -> float | None:
    """What a clip of this kind looks at: the norm of all, the largest norm, the largest element.

    Nothing in traced code: there are no values yet.
    """
    numbers = [dense(tensor) for tensor in tensors]
    found = [private.contents(n) for n in numbers if is_a(n, private.EAGER_TENSOR)]
    sizes = [abs(values.astype("float64")) for values in found if values is not None and values.size]
    if not sizes:
        return None
    if kind == "value":
        return max(float(flat.max()) for flat in sizes)
    norms = [sqrt(float((flat**2).sum())) for flat in sizes]
    return sqrt(sum(norm**2 for norm in norms)) if kind == "global norm" else max(norms)


def _needed(symbols: Iterable[Any]) -> bool:
    """Does anything in its graph, or whoever calls the function, get one of these?"""
    for ref in symbols:
        tensor = ref()
        if tensor is not None and (tensor.consumers() or any(tensor is out for out in tensor.graph.outputs)):
            return True
    return False


def _list(given: Any) -> list[Any]:
    return listed(given) if is_a(given, list, tuple) else [given]


def _number(limit: Any) -> float | None:
    return number_in(private.contents(limit) if is_a(limit, private.EAGER_TENSOR) else limit)
