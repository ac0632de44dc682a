"""Watches a running script: attaches to JAX, opens and closes windows of recording."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.calls import Calls
from whygrad.frameworks.jax.differentiating import Differentiating
from whygrad.frameworks.jax.hooks import Hooks
from whygrad.frameworks.jax.lineages import Lineages
from whygrad.frameworks.jax.names import Names
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.jax.stepping import Stepping
from whygrad.frameworks.jax.values import here, own, parameter_of
from whygrad.frameworks.jax.window import Window
from whygrad.frameworks.shared.flags import Flags
from whygrad.frameworks.shared.frames import PACKAGE
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.observer import BaseObserver
from whygrad.frameworks.shared.records import Records
from whygrad.frameworks.shared.scopes import variables
from whygrad.summaries.watching import Watching

_ENOUGH = 5_000  # operations without a step, outside of what is differentiated: each takes ten times as long
_FOLDER = os.path.join(PACKAGE, "frameworks")


class _Thread(threading.local):
    resting: int = 0  # JAX is busy with itself, so many calls deep
    updating: int = 0  # an optimizer is at work


class Observer(BaseObserver):
    """Everything that happens between attach and detach."""

    def __init__(
        self, namespace: Callable[[], Mapping[str, Any]], on_step: Callable[[], None] | None = None
    ) -> None:
        super().__init__(namespace, on_step)
        self.thread = _Thread()
        self.flags = Flags(_row)
        self.recorder = Recorder()
        self.lineages = Lineages(self.recorder)
        self.calls = Calls()
        self.differentiating = Differentiating(
            self, self.recorder, self.lineages, self.optimizers, self.calls
        )
        self.stepping = Stepping(
            self,
            self.recorder,
            self.lineages,
            self.optimizers,
            self.attention,
            self.differentiating,
            self.calls,
        )
        self.recorder.on_sum = self.stepping.summed
        self.differentiating.on_unseen = self.stepping.unseen
        self.recorder.bodies.on_call = self.calls.nested
        self.recorder.bodies.on_body = self.calls.on_traced = self.stepping.traced
        self.recorder.bodies.on_loop = self.stepping.remembering.looped
        self.summaries = None
        self._hooks = Hooks(
            self, self.recorder, self.differentiating, self.stepping, self.calls, self.recorder.bodies
        )
        self._window = Window(self, self.recorder, self.calls)
        self._recording = False
        self._tired = False  # a long rollout is not recorded to its end
        self._stopped = False

    # -- attach and detach -------------------------------------------------------------------------

    def start(self) -> None:
        """Put the hooks in and begin to record, in every thread."""
        private.exclude(_FOLDER)
        self._hooks.install()
        self.open_window()

    def stop(self) -> None:
        """Take everything out again."""
        self._stopped = True
        self.close_window()
        self._hooks.remove()
        private.include(_FOLDER)

    def summarize(self, watching: Watching | None) -> None:
        """Not yet."""

    def enter_thread(self) -> None:
        """The hooks are there for all threads."""

    def fall_silent(self) -> None:
        """Record nothing from now on."""
        self._recording = False

    def leave_fork(self) -> None:
        """In a forked child nothing is recorded; the hooks ask who they are."""
        self._recording = False

    def see_next_step(self) -> None:
        """Steps of compiled functions are made in their calls."""
        self._window.open()

    def step_seen(self) -> None:
        """Nobody has to see calls for that any more."""
        if not self._recording and not self._counting():
            self._window.close()

    def _counting(self) -> bool:
        """Does somebody want to know of every step?"""
        return self.on_step is not None and not self._stopped

    def safely(self, note: Callable[..., Any], *arguments: Any) -> Any:
        """Our own failure is never the user's."""
        here = self.thread
        if self.aside or os.getpid() != self.pid:
            return None
        here.resting += 1  # what we ask of JAX is not the user's
        try:
            return note(*arguments)
        except Exception as error:
            self.stepped_aside(error)
            return None
        finally:
            here.resting -= 1

    # -- windows -----------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Is there something to close?"""
        return self._window.is_open

    def recording(self) -> bool:
        """Is this piece of code being recorded? Traced code always is: it is traced only once."""
        return not self.aside and not self._stopped and (self._recording or private.staging())

    def open_window(self) -> None:
        """Record eager code from now on."""
        if self.aside or self._recording:
            return
        self._recording, self._tired = True, False
        self.recorder.operations = 0
        self._window.open()

    def in_window(self) -> bool:
        """Is eager code recorded, too?"""
        return self._recording

    def wakes(self) -> bool:
        """Something is differentiated, after so much that the rest was not recorded: is this?"""
        if self._tired and not self.aside and not self._stopped:
            self.open_window()
        return self._recording

    def _rests(self) -> None:
        """Enough of a rollout: what is differentiated after it, and stepped, is recorded again."""
        self._recording, self._tired = False, True
        if not self._counting():
            self._window.close()

    def close_window(self) -> None:
        """Enough for now."""
        self._recording = self._tired = False
        if not self._counting():
            self._window.close()

    def function_called(
        self, jaxpr: Any, args: Any, results: Any, name: str, params: Any, frame: FrameType
    ) -> None:
        """Eager code has called a compiled function."""
        content = self.calls.of(jaxpr)
        if self._recording:
            self.stepping.dropping.used(args)
            self.recorder.compiled(jaxpr, args, results, name, params, frame)
            if content is not None:
                self.flags.look(frame)
                self._carried_on(jaxpr, args, results)
                self.stepping.dropping.called(jaxpr, args, results)
                self.stepping.remembering.called(jaxpr, args, results, here(frame))
            if self.recorder.operations > _ENOUGH:
                self._rests()
        if content is None:
            return
        for backward, times in content.backwards.items():
            backward.runs += times
            self.differentiating.called(backward)
        for record, times in content.steps.items():
            self.optimizers.count(record, times)
            self.attention.wants(record)
        if content.steps:
            self.recorder.operations = 0
            self.name_new_things((), frame)
            if not self.stepping.suspects():
                self.attention.close_if_done(self)
            self.thread.resting -= 1
            try:
                self.stepped()
            finally:
                self.thread.resting += 1

    def _carried_on(self, jaxpr: Any, args: Any, results: Any) -> None:
        """What came out is the next version of what went in."""
        for out, array in zip(jaxpr.outvars, results, strict=False):
            node = self.recorder.staged.get((out, ())) if is_a(out, private.VAR) else None
            param = parameter_of(node)
            if param is not None and is_a(array, private.ARRAY) and param.trained:
                self.lineages.is_now(param, array)

    def died(self, error: BaseException) -> None:
        """The script ends with this, inside of what was differentiated."""
        failed = [b for b in self.differentiating.pending if b.error]
        asked = private.asked_for(error)
        frame = own(error.__traceback__)
        if failed and asked and frame is not None:
            self.failure = (type(error).__name__, str(error), asked, here(frame), tuple(failed[-1].leaves))

    # -- names -------------------------------------------------------------------------------------

    def find_names(self, frame: FrameType | None) -> Names:
        """Name parameters by what is in scope at ``frame``."""
        self.thread.resting += 1
        try:
            names = Names(self.lineages)
            for scope in variables(self._namespace(), frame):
                names.walk(scope)
            names.give()
            return names
        finally:
            self.thread.resting -= 1

    def records(self) -> Records:
        """What there is so far, with the names of now."""
        self.stepping.finish()
        names = self.find_names(None)
        self.unnamed = self.unnamed or names.trouble
        params = {key: param.copy() for key, param in self.lineages.params.items()}
        return Records(
            optimizers=[
                record
                for record in self.optimizers.copies(params, names.optimizers)
                if record.steps or record.held
            ],
            params=params,
            pending=[b for b in self.differentiating.pending if b.applied or not b.alone],
            failure=self.failure,
            copies=self.lineages.copies.all(),
            flags=self.flags.all(),
        )


def _row(value: Any, most: int) -> list[Any] | None:
    """What is in a row or column of numbers."""
    if not is_a(value, private.ARRAY):
        return None
    shape = private.shape_of(value) or ()
    long = 1
    for length in shape:
        long *= length
    if not 1 < long <= most or shape not in ((long,), (long, 1)):
        return None
    import numpy

    found = numpy.asarray(value)
    return found.ravel().tolist() if found.dtype.kind in "fiub" else None
