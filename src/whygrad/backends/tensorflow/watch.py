"""Watches a running script: attaches to TensorFlow, opens and closes windows of recording."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import tensorflow as tf

from whygrad.backends.recording.frames import Where
from whygrad.backends.recording.freeze import Failure, Records
from whygrad.backends.recording.nodes import Param
from whygrad.backends.recording.records import OptimizerRecord
from whygrad.backends.recording.scopes import variables
from whygrad.backends.tensorflow import private
from whygrad.backends.tensorflow.clipping import Clips
from whygrad.backends.tensorflow.copying import Copying
from whygrad.backends.tensorflow.differentiating import Differentiating
from whygrad.backends.tensorflow.functions import Functions
from whygrad.backends.tensorflow.given import Given
from whygrad.backends.tensorflow.hooks import Hooks
from whygrad.backends.tensorflow.looks import Looks
from whygrad.backends.tensorflow.names import Names
from whygrad.backends.tensorflow.optimizers import Optimizers
from whygrad.backends.tensorflow.recorder import Recorder
from whygrad.backends.tensorflow.summaries import Summaries
from whygrad.backends.tensorflow.tapes import Tapes
from whygrad.backends.tensorflow.values import Value, here
from whygrad.backends.tensorflow.variables import handle_of
from whygrad.backends.tensorflow.weights import Weights
from whygrad.backends.tensorflow.window import Window
from whygrad.watch.watching import Watching

_MOST_OPERATIONS = 60_000


class _Thread(threading.local):
    resting: int = 0
    listening: bool = False


class Watch:
    """Everything that happens between attach and detach."""

    def __init__(
        self, namespace: Callable[[], Mapping[str, Any]], on_step: Callable[[], None] | None = None
    ) -> None:
        self.tapes = Tapes()
        self.recorder = Recorder(self.tapes)
        self.optimizers: dict[int, OptimizerRecord] = {}
        self.differentiating = Differentiating(self)
        self.applying = Optimizers(self)
        self.functions = Functions()
        self.clips = Clips(self)
        self.copying = Copying(self)
        self.weights = Weights(self.recorder.variables)
        self.recorder.on_write = self.copying.written
        self.given = Given()
        self.looks = Looks(self)
        self.summaries: Summaries | None = None  # if somebody wants them
        self.failure: Failure | None = None
        self.captured: dict[int, Where] = {}  # parameter -> the traced function that has it
        self.aliases: list[tuple[tuple[str, ...], tuple[int, ...]]] = []  # two names for the same variables
        self.steps = 0
        self.aside = ""
        self.on_step = self._always = on_step
        self.pid = os.getpid()
        self.naming = threading.RLock()
        self._namespace = namespace
        self._thread = _Thread()
        self._hooks = Hooks(self)
        self._window = Window(self)
        self._recording = False
        self._stopped = False
        self._named: set[int] = set()
        self._profile: Any = None

    # -- attach and detach -------------------------------------------------------------------------

    def start(self) -> None:
        """Put the hooks in and begin to record in this thread and in every new one."""
        self._hooks.install()
        self._profile = threading.getprofile()
        if self._profile is None:
            threading.setprofile(self._new_thread)
        self.open_window()

    def stop(self) -> None:
        """Take everything out again."""
        self._stopped = True
        self.summarise(None)
        self.close_window()
        self._hooks.remove()
        if threading.getprofile() == self._new_thread:
            threading.setprofile(self._profile)

    def summarise(self, watching: Watching | None) -> None:
        """Summarise updates from now on, or no longer."""
        if self.summaries is not None:
            self.given.remove()
            self.summaries = None
        if watching is not None:
            self.summaries = Summaries(self, watching)
            self.given.install()
            self._window.see_calls()

    def wants_losses(self) -> bool:
        """Shall it be noted what is differentiated? In traced code always: looks tell of its value."""
        return (self.summaries is not None or not tf.executing_eagerly()) and not self.is_resting()

    def stepped_aside(self, error: BaseException) -> None:
        """Our own failure: stop recording, keep what there is, say so at the end."""
        if not self.aside:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            line = f" (line {trace.tb_lineno} of {trace.tb_frame.f_code.co_name})" if trace else ""
            self.aside = f"{type(error).__name__}: {error}{line}"
        self._recording = False

    def forked(self) -> None:
        """In a forked child: nothing is watched there."""
        self.on_step = self._always = None
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

    def stepped(self) -> None:
        """A step was taken: whoever counts may end the script here."""
        call = self.on_step  # another thread may take it away meanwhile
        if call is not None:
            call()

    def settle(self) -> None:
        """Steps of compiled code that were let through are counted."""
        self._window.settle()

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this once, in the thread that makes the next step, compiled ones included."""

        def once() -> None:
            self.on_step = self._always
            if not self.is_open:
                self._window.forget_calls(counting=self._counting())
            call()
            if self._always is not None:
                self._always()

        self.on_step = once
        self._window.see_calls()

    def _counting(self) -> bool:
        """Does somebody want to know of every step, compiled ones included?"""
        wanted = self.on_step is not None or self.summaries is not None or self.looks.wanted
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

    def _new_thread(self, frame: FrameType, event: str, argument: Any) -> None:
        sys.setprofile(None)
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

    def _operation(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        """Called by TensorFlow for every operation of this thread."""
        if graph is None and self._recording and not self._thread.resting and outputs is not None:
            name = op_type.decode() if isinstance(op_type, bytes) else op_type
            self.safely(self.recorder.operation, name, inputs, outputs, sys._getframe(1))
            if self.recorder.operations > _MOST_OPERATIONS:
                self._recording = False
        return outputs if graph is None or outputs is None else list(outputs)  # as it is without us

    def function_called(self, graph: Any, feeds: list[Any], result: Any, frame: FrameType) -> None:
        """Eager code has called a traced function."""
        if not self._recording:
            return
        with self.resting():
            self.recorder.called(graph, feeds, result, frame)
            self.recorder.graphs.fed(graph, feeds)
            place = self.functions.place_of(frame)
            for tensor in feeds:
                param = self.recorder.variables.params.get(private.identity(tensor))
                if param is not None and place is not None:
                    self.captured.setdefault(param.key, place)
            for handle, op_type, value in self.recorder.graphs.writes(graph, feeds):
                self.recorder.variables.wrote(handle, value)
                self.copying.written(op_type, handle, value)

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
            elif tf.is_tensor(thing):
                node = self.recorder.node(thing)
                if isinstance(node, Value):
                    known.values.add(node)

    # -- names -------------------------------------------------------------------------------------

    def name_new_things(self, params: Iterable[Param], frame: FrameType) -> None:
        """Look for names again if there is somebody whom no earlier look was for."""
        keys = {p.key for p in params if not p.name}
        if not self._named or not keys <= self._named:
            self._named |= keys | {0}
            self.name_things(frame)

    def name_things(self, frame: FrameType | None) -> None:
        """Find the user's names for variables and optimizers, in scope at ``frame``."""
        with self.naming, self.resting():
            names = Names(self.recorder.variables)
            for scope in variables(self._namespace(), frame):
                names.walk(scope)
            names.give(self._namespace() if frame is None else None)
            self.aliases = names.aliases() or self.aliases
            for record in list(self.optimizers.values()):
                record.name = names.optimizers.get(id(record.ref()), record.name)

    def look_at_weights(self) -> None:
        """Remember the values that nobody has looked at yet."""
        with self.resting():
            self.weights.look()

    def records(self) -> Records:
        """What there is so far."""
        return Records(
            optimizers=list(self.optimizers.values()),
            pending=list(self.differentiating.pending),
            failure=self.failure,
            copies=[*self.weights.copies(), *self.copying.copies.values()],
            aliases=self.aliases,
            clips=self.clips.records(),
        )
