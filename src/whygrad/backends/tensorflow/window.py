"""The patches that are there only while eager code is recorded."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from whygrad.backends.recording.patches import Patches
from whygrad.backends.recording.records import OptimizerRecord
from whygrad.backends.tensorflow import private
from whygrad.backends.tensorflow.boxes import PLACES, nested

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.watch import Watch

_CALM = "_whygrad_calm"
_MOST_CALM = 1024
_EXITS = ("numpy", "__float__", "__int__", "__index__", "__array__")


class _Calm:
    """The next calls of a function, which nobody has to know of one by one."""

    __slots__ = ("__weakref__", "granted", "left", "records")

    def __init__(self, granted: int, records: Sequence[OptimizerRecord]) -> None:
        self.granted = self.left = granted
        self.records = records


class Window:
    """The patches that are there only while eager code is recorded."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
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
        def _call_flat(function: Any, tensor_inputs: Any, captured_inputs: Any) -> Any:
            known = getattr(function, _CALM, None)
            if known is not None and known.left > 0 and tf.executing_eagerly():
                known.left -= 1
                return original(function, tensor_inputs, captured_inputs)
            watch, graph = self._watch, function.graph
            if watch.is_resting():
                return original(function, tensor_inputs, captured_inputs)
            if not tf.executing_eagerly():  # from within another function, which is being traced
                watch.safely(nested, graph)
                return original(function, tensor_inputs, captured_inputs)
            calm = None if self.is_open else watch.applying.calm(graph)
            if calm is not None:
                result = original(function, tensor_inputs, captured_inputs)
                watch.applying.passed(graph, calm)
                self._grant(function, known, calm)
                return result
            call = partial(original, function, tensor_inputs, captured_inputs)
            result = watch.looks.called(graph, call, sys._getframe(1)) if graph in PLACES else call()
            if watch.recording():
                feeds = [*tensor_inputs, *captured_inputs]
                watch.safely(watch.function_called, graph, feeds, result, sys._getframe(1))
            if watch.safely(watch.applying.executed, graph):
                watch.stepped()
            return result

        return _call_flat

    def _grant(self, function: Any, known: _Calm | None, records: Sequence[OptimizerRecord]) -> None:
        """Nobody has to know of the next calls of this function, until the next look at what it updates."""
        if known is not None:
            self._settle(known)
        calls = min((r.looked_until - r.steps for r in records), default=_MOST_CALM)
        if calls > 1 and self._watch.summaries is None:
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
            self._watch.applying.count(record, made)

    def _leaving(self, original: Any) -> Any:
        name = original.__name__

        def leave(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tensor, *args, **kwargs)
            if self._watch.recording() and not self._watch.is_resting():
                with self._watch.resting():
                    self._watch.safely(self._watch.recorder.left, name, tensor, result, sys._getframe(1))
            return result

        return leave

    def _entering(self, original: Any) -> Any:
        def convert_to_eager_tensor(value: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(value, *args, **kwargs)
            if self._watch.recording() and not self._watch.is_resting():
                self._watch.safely(self._watch.recorder.entered, "constant", value, result, sys._getframe(1))
            return result

        return convert_to_eager_tensor

    def _explicit_reads(self, original: Any) -> Any:
        """The runtime reads a variable that is passed to an operation without telling: it is read here."""

        def TFE_Py_FastPathExecute(*args: Any) -> Any:
            if self._watch.recording() and not self._watch.is_resting():
                args = tuple(_read(a) for a in args)
            return original(*args)

        return TFE_Py_FastPathExecute


def _read(argument: Any) -> Any:
    if isinstance(argument, private.VARIABLE):
        return argument.value()
    if isinstance(argument, (list, tuple)) and any(isinstance(a, private.VARIABLE) for a in argument):
        return type(argument)([_read(a) for a in argument])
    return argument
