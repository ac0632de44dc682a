"""The PyTorch backend: what the rest of whygrad knows of torch."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import replace

import torch

from whygrad.backends.protocol import Observation, Setup
from whygrad.backends.recording.frames import Where
from whygrad.backends.recording.peeking import without_trace
from whygrad.backends.recording.scopes import innermost
from whygrad.backends.recording.summary import count_of
from whygrad.backends.torch.distributed import waited_for
from whygrad.backends.torch.freeze import TorchFreezer
from whygrad.backends.torch.watch import Watch
from whygrad.model import Note
from whygrad.watch.watching import Watching

_watches: weakref.WeakSet[Watch] = weakref.WeakSet()


def _in_forked_child() -> None:
    for watch in _watches:
        watch.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)


class TorchBackend:
    """Watches torch from ``attach`` to ``detach``."""

    framework = "torch"

    def __init__(self) -> None:
        self._watch: Watch | None = None
        self._crash: tuple[str, str] | None = None
        self._waited: tuple[frozenset[int], Where | None] = (frozenset(), None)

    def attach(self, setup: Setup) -> None:
        """Start to watch."""
        self._watch = watch = Watch(setup.namespace, setup.on_step)
        _watches.add(watch)
        watch.start()

    def detach(self) -> None:
        """Restore torch as it was."""
        if self._watch is not None:
            self._watch.stop()

    def summarise(self, watching: Watching | None) -> None:
        """Summarise updates from now on, or no longer."""
        if self._watch is not None:
            self._watch.summarise(watching)

    def failed(self, error: BaseException) -> None:
        """The script ends with this exception: names in scope where it was raised, what was under way."""
        watch = self._watch
        if watch is None:
            return
        self._crash = (type(error).__name__, str(error))
        watch.name_things(innermost(error.__traceback__))
        tensors, where = waited_for(error)
        self._waited = (frozenset(watch.recorder.param(t).key for t in tensors), where)

    def judged(self, updates: int) -> bool:
        """Every optimizer in use has been recorded often enough, or has been silent for long."""
        watch = self._watch
        if watch is None or not watch.steps:
            return False
        if watch.aside or watch.unseen:
            return watch.steps >= updates
        stepped = [r for r in watch.optimizers.values() if r.steps]
        if len(stepped) < len(watch.optimizers) and watch.steps < 8 * updates * len(watch.optimizers):
            return False
        late = watch.steps >= 40 * updates * max(1, len(stepped))
        return late or all(r.recorded >= updates for r in stepped)

    def observe(self) -> Observation:
        """What was seen so far."""
        watch = self._watch
        if watch is None:
            return Observation(version=torch.__version__)
        seen = self._seen(watch)
        if watch.summaries is None:
            return seen
        return replace(seen, evidence=replace(seen.evidence, history=watch.summaries.watching.history()))

    def peek(self) -> Observation:
        """The same while the script trains: nothing of it is recorded, and nothing stays changed."""
        watch = self._watch
        if watch is None:
            return Observation(version=torch.__version__)
        with torch._C.DisableTorchFunction(), torch.no_grad(), without_trace(watch, watch.recorder.params):
            return self._seen(watch)

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this in the thread that makes the next step."""
        if self._watch is not None:
            self._watch.after_next_step(call)

    def _seen(self, watch: Watch) -> Observation:
        watch.name_things(None)
        records = watch.records()
        evidence = TorchFreezer(records).evidence(self._crash, finished=self._crash is None)
        unused, where = self._waited
        if unused and evidence.crash is not None:
            site = where.site() if where is not None else evidence.crash.site
            evidence = replace(evidence, crash=replace(evidence.crash, unused=unused, site=site))
        counts = tuple(map(count_of, records.optimizers))
        return Observation(evidence, counts, tuple(_notes(watch)), torch.__version__)


def _notes(watch: Watch) -> list[Note]:
    notes = []
    for what, where in watch.unseen.items():
        text = f"{what} was used: operations inside compiled code are not seen, gradients still are"
        notes.append(Note(text, where.site() if where is not None else None))
    if watch.aside:
        notes.append(Note(f"recording stopped early ({watch.aside})", kind="internal"))
    return notes
