"""Watches a running script: attaches to TensorFlow, opens and closes windows of recording."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.shared import attention
from whygrad.frameworks.shared.figures import Figures
from whygrad.frameworks.shared.flags import Flags
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.observer import BaseObserver
from whygrad.frameworks.shared.records import Records
from whygrad.frameworks.shared.scopes import variables
from whygrad.frameworks.shared.standing import Standing
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.before_apply import BeforeApply
from whygrad.frameworks.tensorflow.clipping import Clips
from whygrad.frameworks.tensorflow.compiled_exit import Exit
from whygrad.frameworks.tensorflow.compiled_figures import CompiledFigures
from whygrad.frameworks.tensorflow.copying import Copying
from whygrad.frameworks.tensorflow.differentiating import Differentiating
from whygrad.frameworks.tensorflow.functions import Functions
from whygrad.frameworks.tensorflow.hooks import Hooks
from whygrad.frameworks.tensorflow.names import Names
from whygrad.frameworks.tensorflow.numbers import TensorFlowNumbers
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.stepping import Applying
from whygrad.frameworks.tensorflow.summaries import Summaries
from whygrad.frameworks.tensorflow.tape_hooks import TapeHooks
from whygrad.frameworks.tensorflow.tapes import Tapes
from whygrad.frameworks.tensorflow.values import Value, here
from whygrad.frameworks.tensorflow.variables import Variables, handle_of
from whygrad.frameworks.tensorflow.weights import Weights, fingerprint
from whygrad.frameworks.tensorflow.window import Window
from whygrad.summaries.watching import Watching

_OPERATIONS = 60_000  # without a single step: to record one costs more than in other frameworks


class _Thread(threading.local):
    resting: int = 0
    listening: bool = False


class Observer(BaseObserver):
    """Everything that happens between attach and detach."""

    def __init__(
        self, namespace: Callable[[], Mapping[str, Any]], on_step: Callable[[], None] | None = None
    ) -> None:
        super().__init__(namespace, on_step, replace(attention.BUDGET, operations=_OPERATIONS))
        self.tapes = Tapes()
        self.recorder = Recorder(self.tapes)
        self.flags = Flags(_row)
        self.figures = Figures(TensorFlowNumbers(), self.attention)
        self.differentiating = Differentiating(self, self.recorder, self.optimizers, self.attention)
        self.functions = Functions()
        self.copying = Copying(self, self.recorder.variables)
        self.weights = Weights(self.recorder.variables)
        self.standing = Standing(self.optimizers, fingerprint, self.stepped_aside)
        self.recorder.on_write = self.copying.written
        self.before_apply = BeforeApply(self.stepped_aside)
        self.exit = Exit(self, self.optimizers, self.recorder, self.before_apply)
        self.clips = Clips(self, self.recorder, self.optimizers, self.exit)
        self.looks = CompiledFigures(
            self, self.optimizers, self.attention, self.figures, self.recorder, self.exit
        )
        self.applying = Applying(
            self,
            self.optimizers,
            self.attention,
            self.figures,
            self.recorder,
            self.differentiating,
            self.clips,
            self.exit,
            self.looks,
            self.before_apply,
        )
        self.summaries: Summaries | None = None  # if somebody wants them
        self.captured: dict[int, Where] = {}  # parameter -> the traced function that has it
        self.thread = self._thread = _Thread()
        self._hooks = Hooks(
            self,
            self.recorder,
            TapeHooks(self, self.tapes, self.differentiating, self.before_apply),
            self.functions,
            self.applying,
            self.clips,
            self.copying,
        )
        self._window = Window(self, self.optimizers, self.attention, self.recorder, self.applying, self.looks)
        self._recording = False
        self._stopped = False
        self._layers_named = 0

    # -- attach and detach -------------------------------------------------------------------------

    def start(self) -> None:
        """Put the hooks in and begin to record in this thread and in every new one."""
        self._hooks.install()
        self.see_threads()
        self.open_window()

    def stop(self) -> None:
        """Take everything out again."""
        self._stopped = True
        self.standing.stop()
        self.summarize(None)
        self.close_window()
        self._hooks.remove()
        self.forget_threads()

    def summarize(self, watching: Watching | None) -> None:
        """Summarize updates from now on, or no longer."""
        if self.summaries is not None:
            self.before_apply.remove()
            self.summaries = None
        if watching is not None:
            self.summaries = Summaries(
                self, self.optimizers, self.recorder.variables, self.before_apply, watching
            )
            self.before_apply.install()
            self._window.see_calls()

    def wants_losses(self) -> bool:
        """Shall it be noted what is differentiated? In traced code always: looks tell of its value."""
        return (self.summaries is not None or not tf.executing_eagerly()) and not self.is_resting()

    def fall_silent(self) -> None:
        """Record nothing from now on."""
        self._recording = False

    def leave_fork(self) -> None:
        """In a forked child nothing is recorded; the hooks ask who they are."""
        self._recording = False

    def safely(self, note: Callable[..., Any], *arguments: Any) -> Any:
        """Our own failure is never the user's."""
        if self.aside or os.getpid() != self.pid:
            return None
        try:
            return note(*arguments)
        except Exception as error:
            self.stepped_aside(error)
            return None

    def settle(self) -> None:
        """Steps of compiled code that were let through are counted."""
        self._window.settle()

    def see_next_step(self) -> None:
        """Steps of compiled code are made in calls of functions."""
        self._window.see_calls()

    def step_seen(self) -> None:
        """Calls of functions are let through again."""
        if not self.is_open:
            self._window.forget_calls(counting=self._counting())

    def _counting(self) -> bool:
        """Does somebody want to know of every step, compiled ones included?"""
        wanted = self.on_step is not None or self.summaries is not None or self.exit.used
        return wanted and not self._stopped

    # -- windows -----------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Is there something to close? A very long rollout pauses recording in an open window."""
        return self._window.is_open

    def recording(self) -> bool:
        """Is this piece of code being recorded? Traced code always is: it is traced only once."""
        return not self.aside and (self._recording or not tf.executing_eagerly())

    def open_window(self) -> None:
        """Record eager code from now on."""
        if self.aside or self._recording:
            return
        self._recording = True
        self.recorder.operations = 0
        self.recorder.table.forget_data()
        self.recorder.variables.forget_writes()
        self._window.open()
        self._listen()

    def close_window(self) -> None:
        """Enough for now."""
        self._recording = False
        self._window.close(counting=self._counting())
        if self._thread.listening:
            self._thread.listening = False
            private.remove_op_callback(self._operation)

    def _listen(self) -> None:
        if not self._thread.listening:
            self._thread.listening = True
            private.add_op_callback(self._operation)

    def enter_thread(self) -> None:
        """TensorFlow keeps its callbacks by thread."""
        if self._recording:
            self._listen()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """What happens here is the framework's own."""
        self._thread.resting += 1
        try:
            yield
        finally:
            self._thread.resting -= 1

    def is_resting(self) -> bool:
        """Is the framework busy with itself?"""
        return self._thread.resting > 0

    # -- what is told ------------------------------------------------------------------------------

    @door
    def _operation(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        """Called by TensorFlow for every operation of this thread."""
        if graph is None and self._recording and not self._thread.resting and outputs is not None:
            try:
                name = op_type.decode() if isinstance(op_type, bytes) else op_type
                self.safely(self.recorder.operation, name, inputs, outputs, sys._getframe(1))
                if self.attention.tired(self.recorder.operations):
                    self._recording = False
            except Exception as error:
                self.stepped_aside(error)
        return outputs if graph is None or outputs is None else list(outputs)  # as it is without us

    def function_called(self, graph: Any, feeds: list[Any], result: Any, frame: FrameType) -> None:
        """Eager code has called a traced function."""
        if not self._recording:
            return
        with self.resting():
            self.recorder.called(graph, feeds, result, frame)
            self.recorder.graphs.fed(graph, feeds)
            self.flags.look(frame)
            self._look_at_arguments(graph, feeds, frame)
            place = self.functions.place_of(frame)
            for tensor in feeds:
                param = self.recorder.variables.params.get(private.identity(tensor))
                if param is not None and place is not None:
                    self.captured.setdefault(param.key, place)
            for handle, op_type, value in self.recorder.graphs.writes(graph, feeds):
                self.recorder.variables.wrote(handle, value)
                self.copying.written(op_type, handle, value)

    def _look_at_arguments(self, graph: Any, feeds: list[Any], frame: FrameType) -> None:
        """``learn(*batch)``: the names of the batch's parts are inside of the function."""
        called = self.functions.arguments_of(frame)
        if called is not None and len(called[1]) == len(graph.inputs) - len(graph.captures):
            self.flags.given(called[0], zip(called[1], feeds, strict=False))

    def call_looked_at(self, frame: FrameType) -> None:
        """A compiled update was looked at. Networks that were made since may have taken the names of others.

        Compiled code is traced once. Whoever replaces a network later is not met by it again.
        """
        made = self.recorder.variables.made_layers
        if made != self._layers_named:
            self._layers_named = made
            self.name_things(frame)

    def prediction_failed(self, name: str, model: Any, error: BaseException, frame: FrameType) -> None:
        """``model.predict`` raised: under a tape, legacy Keras does."""
        node = self.recorder.prediction(name, model, frame)
        self.failure = (type(error).__name__, str(error), name, node.where, (node,))

    def tape_entered(self, tape: Any, frame: FrameType) -> None:
        """``with tf.GradientTape() as tape``."""
        self.tapes.entered(tape, here(frame) if self.recording() else None)

    def tape_reset(self, tape: Any, frame: FrameType) -> None:
        """``tape.reset()``."""
        self.tapes.reset(tape, here(frame) if self.recording() else None)

    def told_to_watch(self, tape: Any, tensor: Any) -> None:
        """``tape.watch(tensor)``."""
        known = self.tapes.get(tape)
        if known is None or not self.recording():
            return
        for thing in tf.nest.flatten(tensor):
            handle = handle_of(thing)
            if handle:
                known.handles.add(handle)
            elif private.is_tensor(thing):
                node = self.recorder.node(thing)
                if isinstance(node, Value):
                    known.values.add(node)

    # -- names -------------------------------------------------------------------------------------

    def find_names(self, frame: FrameType | None) -> Names:
        """Name variables by what is in scope at ``frame``."""
        names = self._walked(self.recorder.variables, frame)
        self.aliases = names.aliases() or self.aliases
        return names

    def _walked(self, known: Variables, frame: FrameType | None) -> Names:
        with self.resting():
            names = Names(known)
            for scope in variables(self._namespace(), frame):
                names.walk(scope)
            names.give(self._namespace() if frame is None else None)
        return names

    def look_at_weights(self) -> None:
        """Remember the values that nobody has looked at yet; are the others still what they were?"""
        with self.resting():
            self.weights.look()
            if self.standing.due(self.optimizers.steps):
                self.standing.look(list(self.recorder.variables.params.values()))

    def records(self) -> Records:
        """What there is so far, with what compiled code has left, and the names of now."""
        self.settle()
        known = self.recorder.variables.copy()
        names = self._walked(known, None)
        self.unnamed = self.unnamed or names.trouble
        params = {param.key: param for param in known.params.values()}
        optimizers = self.optimizers.copies(params, names.optimizers)
        self.applying.last_look(optimizers)
        return Records(
            optimizers=optimizers,
            params=params,
            handles={param.key: handle for handle, param in known.params.items()},
            pending=list(self.differentiating.pending),
            failure=self.failure,
            copies=[*self.weights.copies(params), *self.copying.copies.all()],
            aliases=names.aliases() or self.aliases,
            flags=self.flags.all(),
            clips=self.clips.records(),
        )


def _row(value: Any, most: int) -> list[Any] | None:
    """What is in a row or column of numbers."""
    if not is_a(value, private.EAGER_TENSOR):
        return None
    long = value.shape.num_elements() or 0
    if not 1 < long <= most or tuple(value.shape) not in ((long,), (long, 1)):
        return None
    found = private.contents(value)
    return found.ravel().tolist() if found is not None and found.dtype.kind in "fiub" else None
