"""One process of a watched run that was not started by us: it watches itself, and leaves what it has seen.

What it sees goes to its own two files in the folder of the run, while it runs and at its end: the evidence,
and the report on it. A process that is killed leaves the newest of them.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType

from whygrad.doors import door
from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.registry import Registry
from whygrad.model import About, Note, Observation, Process, Raised, Recording, Run
from whygrad.processes import place
from whygrad.processes.files import Files
from whygrad.processes.settings import Settings
from whygrad.processes.traces import traces
from whygrad.running import sentences
from whygrad.running.concluding import conclude, described, with_summaries
from whygrad.running.hooks import PrintedTracebacks, ThreadHook
from whygrad.running.limits import Limits, Stop, Stopper
from whygrad.running.snapshots import Pace, Snapshots
from whygrad.running.tracebacks import peel, user_site

SOON = Pace(first=0.25)  # workers may be killed at any time


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a process that goes on."""

    observed: Mapping[str, Observation]
    seconds: float


class Member:
    """Watches the process that it is made in, until its end."""

    def __init__(self, settings: Settings, registry: Registry | None = None) -> None:
        self._settings = settings
        self._process = place.this_process()
        self._files = Files(settings.path, self._process, settings.source)
        self._stopper = self._limited()
        on_step = self._stopper.on_step if self._stopper else None
        self._forked = registry is not None
        self.registry = registry or Registry(Setup(_namespace, on_step))
        if registry is not None:
            registry.go_on(on_step)
        self._snapshots = Snapshots(self.registry.after_next_step, self._look, self._keep, SOON)
        self._hooks = (ThreadHook(self.failed, self._lost), PrintedTracebacks(self._lost))
        self._shown: Callable[..., None] = sys.excepthook
        self._started, self._since = time.perf_counter(), _now()
        self._raised: Raised | None = None
        self._ended = 0.0
        self._notes: list[Note] = []
        self._finishing = threading.Lock()
        self._finished = False
        _members.add(self)

    def _limited(self) -> Stopper | None:
        if not self._settings.updates:
            return None
        limits = Limits(self._settings.updates, self._settings.seconds)
        return Stopper(limits, lambda updates: self.registry.judged(updates), self.finish)

    def begin(self) -> None:
        """From now on."""
        guard = self.registry.guard
        if not self._forked:
            for hook in self._hooks:
                guard("look at exceptions", hook.install)
            self.registry.start()
        self._shown, sys.excepthook = sys.excepthook, self._excepthook
        guard("keep reports while the process runs", self._snapshots.start)
        atexit.register(self.at_exit)
        guard("be told of the end of a child", self._finish_with_multiprocessing)
        if self._stopper is not None and threading.current_thread() is threading.main_thread():
            guard("start the clock", self._stopper.start)

    def _finish_with_multiprocessing(self) -> None:
        """Its children end without exit handlers; they forget what was registered before they began."""
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, self.at_exit, exitpriority=-100)
            util.register_after_fork(self, Member.after_fork)

    @door
    def after_fork(self) -> None:
        """A child of multiprocessing begins: what it does at its end is registered now."""
        try:
            util = sys.modules["multiprocessing.util"]
            util.Finalize(None, self.at_exit, exitpriority=-100)
        except Exception as error:
            self._lost(error)

    # -- the end ---------------------------------------------------------------------------------------

    @door
    def at_exit(self) -> None:
        """The process is about to end, or what runs in it is over."""
        with suppress(Exception):  # nobody is there to be told
            self._ended_by(sys.exception())
            self.finish()

    @door
    def _excepthook(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        shown = trace
        try:
            self._ended_by(error)
            peel(error)
            shown = error.__traceback__
        except Exception as ours:
            self._lost(ours)
        call = self._shown
        call(kind, error, shown)

    def _ended_by(self, error: BaseException | None) -> None:
        """What ends it; a library may have made an exit of the program's own exception."""
        if isinstance(error, SystemExit) and error.code not in (None, 0):
            error = error.__context__
        if error is not None and not isinstance(error, (SystemExit, GeneratorExit, Stop)):
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """The first of them is the one that counts."""
        if self._raised is None and not self._finished:
            self._ended = time.time()
            try:
                message = str(error)
            except Exception:
                message = "<the exception cannot be shown>"
            self._raised = Raised(type(error).__name__, message, user_site(error))
            self.registry.failed(error)

    def finish(self) -> None:
        """Leave the process as it was, and write what was seen. The second call does nothing."""
        with self._finishing:
            if self._finished:
                return
            self._finished = True
            self._snapshots.stop()
            if self._stopper is not None:
                self._stopper.finish()
            observed = self.registry.observe()
            self._leave()
            self._write(observed, time.perf_counter() - self._started, finished=True)

    def stay_silent(self) -> None:
        """In a forked child: this one was the parent's."""
        self._finished = True
        atexit.unregister(self.at_exit)
        if sys.excepthook == self._excepthook:
            sys.excepthook = self._shown

    def _leave(self) -> None:
        self.registry.stop()
        for hook in self._hooks:
            hook.remove()
        if sys.excepthook == self._excepthook:
            sys.excepthook = self._shown

    def _lost(self, error: Exception) -> None:
        self._notes.append(Note(f"whygrad could not look at an exception: {error}", kind="internal"))

    # -- what is written -------------------------------------------------------------------------------

    def _look(self) -> Look:
        observed = self.registry.peek()
        running = {n: replace(o, evidence=replace(o.evidence, running=True)) for n, o in observed.items()}
        return Look(running, time.perf_counter() - self._started)

    def _keep(self, look: Look) -> None:
        self._write(look.observed, look.seconds, finished=False)

    def _write(self, observed: Mapping[str, Observation], seconds: float, finished: bool) -> None:
        process = place.told(self._process, observed)
        process = replace(
            process,
            finished=finished,
            exception=self._raised,
            exit_code=int(self._raised is not None),
            traces=traces(observed),
            ended=self._ended or time.time(),
        )
        if not process.updates and self._raised is None:
            if not self._forked:  # a loader of data is forked in every epoch
                self._files.write(_bare(process))
            return
        about = described(self._about(process, seconds, finished), self.registry, observed)
        run = replace(conclude(observed, about), processes=(process,))
        self._files.write(with_summaries(run, about.watched), Recording(about, observed))

    def _about(self, process: Process, seconds: float, finished: bool) -> About:
        stopped = self._stopper is not None and self._stopper.asked
        return About(
            script=sys.argv[0] if sys.argv else "",
            argv=tuple(sys.argv[1:]),
            exit_code=process.exit_code,
            exception=self._raised,
            notes=(*(() if finished else (Note(sentences.SO_FAR),)), *self._notes),
            seconds=seconds,
            stopped_early=stopped,
            finished=finished,
            started=self._since,
            process=process,
        )


def _bare(process: Process) -> Run:
    return Run(
        script=sys.argv[0] if sys.argv else "", processes=(process,), pid=process.pid, host=process.host
    )


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _namespace() -> Mapping[str, object]:
    return vars(sys.modules["__main__"])


_members: weakref.WeakSet[Member] = weakref.WeakSet()


def join() -> None:
    """This process imports a framework and belongs to a run: watch it from now on."""
    settings = Settings.here()
    if settings is not None and not _members:
        Member(settings).begin()


def take_over(registry: Registry) -> None:
    """In a forked child: watch on with what the parent had."""
    settings = Settings.here()
    for member in list(_members):
        member.stay_silent()
    _members.clear()
    if settings is not None:
        _kept.append(Member(settings, registry))
        _kept[-1].begin()


_kept: list[Member] = []  # as long as the process lives


@door
def _in_forked_child() -> None:
    for member in list(_members):
        with suppress(Exception):  # the child runs without us
            take_over(member.registry)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
