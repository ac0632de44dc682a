"""The patches that are there only while eager code is recorded."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.compiled_figures import CompiledFigures
from whygrad.frameworks.tensorflow.compiled_gradients import PLACES, nested
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.stepping import Applying

_CALM = "_whygrad_calm"
_EXITS = ("numpy", "__float__", "__int__", "__index__", "__array__")


class _Calm:
    """The next calls of a function, which nobody has to know of one by one."""

    __slots__ = ("__weakref__", "granted", "left", "records")

    def __init__(self, granted: int, records: Sequence[OptimizerRecord]) -> None:
        self.granted = self.left = granted
        self.records = records


class _Call(NamedTuple):
    """A call of a traced function that somebody wants to know of."""

    graph: Any
    known: _Calm | None
    calm: Sequence[OptimizerRecord] | None  # who steps in it, if that is all there is to know
    looked: Any  # what looks have begun


class _Observer(Listener, Protocol):
    @property
    def summaries(self) -> Any: ...

    def stepped(self) -> None: ...

    def call_looked_at(self, frame: FrameType) -> None: ...

    def function_called(self, graph: Any, feeds: list[Any], result: Any, frame: FrameType) -> None: ...


class Window:
    """The patches that are there only while eager code is recorded."""

    def __init__(
        self,
        observer: _Observer,
        optimizers: Optimizers,
        attention: Attention,
        recorder: Recorder,
        applying: Applying,
        looks: CompiledFigures,
    ) -> None:
        self._observer, self._optimizers, self._attention = observer, optimizers, attention
        self._recorder, self._applying, self._looks = recorder, applying, looks
        self._patches = Patches()
        self._calls = Patches()
        self._calls_seen = False
        self._lock = threading.Lock()
        self._calms: weakref.WeakSet[_Calm] = weakref.WeakSet()
        self.is_open = False

    def open(self) -> None:
        """Begin to see values leave and come back."""
        if self.is_open:
            return
        self.is_open = True
        for name in _EXITS:
            self._patches.wrap(private.CONVERTIBLE, name, self._leaving)
        if private.RUNTIME is not None:
            self._patches.wrap(private.RUNTIME, "TFE_Py_FastPathExecute", self._explicit_reads)
        if private.CONSTANTS is not None:
            self._patches.wrap(private.CONSTANTS, "convert_to_eager_tensor", self._entering)

        self.see_calls()

    def see_calls(self) -> None:
        """Be there when a traced function is called. Any thread may ask for it."""
        self.settle()
        with self._lock:
            if private.CONCRETE is not None and not self._calls_seen:
                self._calls.wrap(private.CONCRETE, "_call_flat", self._call_flat)
                self._calls_seen = True

    def forget_calls(self, counting: bool) -> None:
        """Nobody has to know of them any more, unless somebody is ``counting`` steps."""
        self.settle()
        if not counting:
            with self._lock:
                self._calls.restore()
                self._calls_seen = False

    def close(self, counting: bool) -> None:
        """No longer; calls of traced functions only if somebody is ``counting`` steps."""
        self.is_open = False
        self._patches.restore()
        self.forget_calls(counting)

    def _call_flat(self, original: Any) -> Any:
        @door
        def _call_flat(function: Any, tensor_inputs: Any, captured_inputs: Any) -> Any:
            begun = None
            try:
                known = getattr(function, _CALM, None)
                if known is not None and known.left > 0 and tf.executing_eagerly():
                    known.left -= 1
                else:
                    begun = self._call_begins(function.graph, known, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            result = original(function, tensor_inputs, captured_inputs)
            if begun is not None:
                try:
                    feeds = (*tensor_inputs, *captured_inputs)
                    self._call_ends(begun, function, feeds, result, sys._getframe(1))
                except Exception as error:
                    self._observer.stepped_aside(error)
            return result

        return _call_flat

    def _call_begins(self, graph: Any, known: _Calm | None, frame: FrameType) -> _Call | None:
        """A traced function is about to be called; nothing if nobody has to know of its end."""
        observer = self._observer
        if observer.is_resting():
            return None
        if not tf.executing_eagerly():  # from within another function, which is being traced
            observer.safely(nested, graph)
            return None
        calm = None if self.is_open else self._applying.calm(graph)
        looked = self._looks.begins(graph, frame) if calm is None and graph in PLACES else None
        return _Call(graph, known, calm, looked)

    def _call_ends(
        self, call: _Call, function: Any, feeds: Sequence[Any], result: Any, frame: FrameType
    ) -> None:
        observer, graph = self._observer, call.graph
        if call.calm is not None:
            self._applying.passed(graph, call.calm)
            self._grant(function, call.known, call.calm)
            return
        if call.looked is not None:
            self._looks.ends(graph, call.looked)
            observer.safely(observer.call_looked_at, frame)
        if observer.recording():
            observer.safely(observer.function_called, graph, list(feeds), result, frame)
        if observer.safely(self._applying.executed, graph):
            observer.stepped()

    def _grant(self, function: Any, known: _Calm | None, records: Sequence[OptimizerRecord]) -> None:
        """Nobody has to know of the next calls of this function, until the next look at what it updates."""
        if known is not None:
            self._settle(known)
        calls = min((r.looked_until - r.steps for r in records), default=self._attention.budget.calm)
        if calls > 1 and self._observer.summaries is None:
            found = _Calm(calls - 1, records)
            self._calms.add(found)
            setattr(function, _CALM, found)

    def settle(self) -> None:
        """Count the calls that were let through; the next ones are seen again."""
        for calm in list(self._calms):
            self._settle(calm)

    def _settle(self, calm: _Calm) -> None:
        made, calm.granted, calm.left = calm.granted - calm.left, 0, 0
        for record in calm.records:
            self._optimizers.count(record, made)

    def _leaving(self, original: Any) -> Any:
        name = original.__name__

        @door
        def leave(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tensor, *args, **kwargs)
            try:
                if self._observer.recording() and not self._observer.is_resting():
                    with self._observer.resting():
                        self._observer.safely(self._recorder.left, name, tensor, result, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return leave

    def _entering(self, original: Any) -> Any:
        @door
        def convert_to_eager_tensor(value: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(value, *args, **kwargs)
            try:
                if self._observer.recording() and not self._observer.is_resting():
                    entered = self._recorder.entered
                    self._observer.safely(entered, "constant", value, result, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return convert_to_eager_tensor

    def _explicit_reads(self, original: Any) -> Any:
        """The runtime reads a variable that is passed to an operation without telling: it is read here."""

        @door
        def TFE_Py_FastPathExecute(*args: Any) -> Any:
            try:
                if self._observer.recording() and not self._observer.is_resting():
                    args = tuple(_read(a) for a in args)
            except Exception as error:
                self._observer.stepped_aside(error)
            return original(*args)

        return TFE_Py_FastPathExecute


def _read(argument: Any) -> Any:
    if is_a(argument, private.VARIABLE):
        return argument.value()
    held = argument if type(argument) in (list, tuple) else ()
    if any(is_a(a, private.VARIABLE) for a in held):
        return type(argument)([_read(a) for a in held])
    return argument
