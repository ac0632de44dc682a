"""The TensorFlow backend: what the rest of whygrad knows of TensorFlow."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import replace

import tensorflow as tf

from whygrad.backends.protocol import Observation, Setup
from whygrad.backends.recording.peeking import unsettled
from whygrad.backends.recording.records import OptimizerRecord
from whygrad.backends.recording.scopes import innermost
from whygrad.backends.recording.summary import count_of
from whygrad.backends.tensorflow import private
from whygrad.backends.tensorflow.freeze import TensorFlowFreezer
from whygrad.backends.tensorflow.watch import Watch
from whygrad.model import Note
from whygrad.watch.watching import Watching

_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


def _in_forked_child() -> None:
    for watch in _watches:
        watch.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)


class TensorFlowBackend:
    """Watches TensorFlow from ``attach`` to ``detach``."""

    framework = "tensorflow"

    def __init__(self) -> None:
        self._watch: Watch | None = None
        self._crash: tuple[str, str] | None = None

    def attach(self, setup: Setup) -> None:
        """Start to watch."""
        self._watch = watch = Watch(setup.namespace, setup.on_step)
        _watches.add(watch)
        watch.start()

    def detach(self) -> None:
        """Restore TensorFlow as it was."""
        if self._watch is not None:
            self._watch.stop()

    def summarise(self, watching: Watching | None) -> None:
        """Summarise updates from now on, or no longer."""
        if self._watch is not None:
            self._watch.summarise(watching)

    def failed(self, error: BaseException) -> None:
        """The script ends with this exception: names in scope where it was raised."""
        if self._watch is not None:
            self._crash = (type(error).__name__, str(error))
            self._watch.name_things(innermost(error.__traceback__))

    def judged(self, updates: int) -> bool:
        """Every optimizer in use has been seen often enough."""
        watch = self._watch
        if watch is None or not watch.steps:
            return False
        if watch.aside:
            return watch.steps >= updates
        stepped = [r for r in watch.optimizers.values() if r.steps]
        if len(stepped) < len(watch.optimizers) and watch.steps < 8 * updates * len(watch.optimizers):
            return False
        late = watch.steps >= 40 * updates * max(1, len(stepped))
        return late or all(_enough(r, updates) for r in stepped)

    def observe(self) -> Observation:
        """What was seen so far."""
        watch = self._watch
        if watch is None:
            return Observation(version=tf.__version__)
        seen = self._seen(watch)
        if watch.summaries is None:
            return seen
        return replace(seen, evidence=replace(seen.evidence, history=watch.summaries.watching.history()))

    def peek(self) -> Observation:
        """The same while the script trains: nothing of it is recorded, and nothing stays changed."""
        watch = self._watch
        if watch is None:
            return Observation(version=tf.__version__)
        params, pending = watch.recorder.variables.params, list(watch.differentiating.pending)
        with watch.resting(), unsettled(watch, params, pending):
            return self._seen(watch)

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this in the thread that makes the next step."""
        if self._watch is not None:
            self._watch.after_next_step(call)

    def _seen(self, watch: Watch) -> Observation:
        watch.name_things(None)
        with watch.resting():
            watch.applying.last_look()
            records = watch.records()
            freezer = TensorFlowFreezer(records, watch.recorder.variables, watch.captured)
            evidence = freezer.evidence(self._crash, finished=self._crash is None)
        evidence = replace(evidence, framework="tensorflow", complete=not watch.aside)
        counts = tuple(map(count_of, records.optimizers))
        return Observation(evidence, counts, tuple(_notes(watch)), tf.__version__)


def _enough(record: OptimizerRecord, updates: int) -> bool:
    return record.recorded >= updates or (record.traced and record.steps >= updates)


def _notes(watch: Watch) -> list[Note]:
    notes = [Note(f"this TensorFlow does not let whygrad see {what}") for what in private.unseen()]
    if watch.aside:
        notes.append(Note(f"recording stopped early ({watch.aside})", kind="internal"))
    return notes
