"""One watched run of a program, from its first line to the finished ``Run``."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from types import ModuleType

from whygrad.backends.protocol import Observation, Setup
from whygrad.backends.registry import FRAMEWORKS, Registry, brief
from whygrad.model import Note, Raised, Run, Severity
from whygrad.running import sentences
from whygrad.running.excerpts import excerpts
from whygrad.running.hooks import PrintedTracebacks, ThreadHook, show_without_us
from whygrad.running.judging import judged, pictured
from whygrad.running.limits import Limits, Stopper, caused_by_stop
from whygrad.running.program import Program, Stage
from whygrad.running.progress import Progress, wanted
from whygrad.running.snapshots import Snapshots
from whygrad.running.summaries import Summaries, notes
from whygrad.running.tracebacks import peel, user_site
from whygrad.watch.history import History


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a running program takes with it."""

    observed: Mapping[str, Observation]
    copies: tuple[History, ...]
    seconds: float


class Session:
    """Runs a program under observation.

    ``execute`` ends as the program ends: it returns, or raises what python shall see. ``finish`` is to
    be called when everything of the program is over (threads, exit handlers); it always gives a ``Run``.
    """

    def __init__(
        self,
        program: Program,
        limits: Limits | None = None,
        frameworks: Mapping[str, str] = FRAMEWORKS,
        give_up: Callable[[], None] = lambda: None,
        summaries: Summaries | None = None,
        progress: bool = False,
        keep: Callable[[Run], None] | None = None,
    ) -> None:
        self.program = program
        self.aside = False  # in a forked child: nothing of ours happens there
        self._stage: Stage | None = None
        self._stopper = Stopper(limits, self._enough, give_up) if limits else None
        on_step = self._stopper.on_step if self._stopper else None
        self.registry = Registry(Setup(self._namespace, on_step), frameworks)
        self._summaries = summaries
        self._progress = (
            Progress(summaries.watching, sys.stderr, self._found_so_far)
            if summaries is not None and progress and wanted(sys.stderr, quiet=False)
            else None
        )
        if summaries is not None:
            self.registry.summarise(summaries.watching)
        self._keep = keep  # puts a report into the run directory while the program runs
        self._snapshots = (
            Snapshots(self.registry.after_next_step, self._look, self._keep_look) if keep else None
        )
        self._hooks = (ThreadHook(self._failed_in_thread), PrintedTracebacks())
        self._raised: Raised | None = None
        self._missing = ""  # a framework that the program asked for and did not find
        self._exit_code = 0
        self._stopped = False
        self._started, self._since = time.perf_counter(), ""
        self._finished: Run | None = None
        self._finishing = threading.Lock()
        _live.add(self)

    def execute(self) -> None:
        """Run the program; whatever python should see of its end comes out."""
        self._stage = self.program.prepare()
        self._started = time.perf_counter()
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")
        for hook in self._hooks:
            hook.install()
        if self._snapshots is not None:
            self._snapshots.start()
        self.registry.start()
        if self._summaries is not None:
            self._summaries.start()
        if self._progress is not None:
            self._progress.start()
        try:
            if self._stopper:
                self._stopper.start()
            self.program.run(self._stage)
        except BaseException as error:
            self._ended_by(error)
            if not self._stopped:
                raise
        finally:
            if self._stopper:
                self._stopper.program_ended()

    def finish(self) -> Run:
        """Detach, judge, and say how it went. The second call gives the same answer."""
        with self._finishing:
            if self._finished is None:
                if self._stopper:
                    self._stopper.finish()
                try:
                    self._finished = self._conclude()
                except Exception as error:
                    note = Note(f"whygrad could not finish: {brief(error)}", kind="internal")
                    self._finished = Run(self.program.label, exit_code=self._exit_code, notes=(note,))
            return self._finished

    def step_aside(self) -> None:
        """This is a forked child: take everything away and stay silent."""
        self.aside = True
        if self._summaries is not None:
            self._summaries.step_aside()
            self._summaries.watching.told = None
        self._leave()

    @property
    def interrupted(self) -> bool:
        """Whether the user pressed Ctrl-C."""
        return self._exit_code == 130 and self._raised is not None

    def _leave(self) -> None:
        self.registry.stop()
        for hook in self._hooks:
            hook.remove()

    def _namespace(self) -> Mapping[str, object]:
        return self._stage.namespace() if self._stage else {}

    def _enough(self, updates: int) -> bool:
        return self.registry.judged(updates)

    def _ended_by(self, error: BaseException) -> None:
        """Note how the program ended, and see to it that python shows it without us."""
        self.registry.guard("tidy the traceback", partial(peel, error))
        if self.aside:
            show_without_us(error)
        elif self._was_stopped() and caused_by_stop(error) and not isinstance(error, KeyboardInterrupt):
            self._stopped = True
        elif isinstance(error, SystemExit):
            self._exit_code = _status(error.code)
        else:
            self._exit_code = 130 if isinstance(error, KeyboardInterrupt) else 1
            self._failed(error)
            show_without_us(error)

    def _was_stopped(self) -> bool:
        return self._stopper is not None and self._stopper.asked

    def _failed_in_thread(self, error: BaseException) -> None:
        if not self.aside and self._raised is None:
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        self.registry.guard("describe the exception", partial(self._remember, error))
        self.registry.failed(error)

    def _remember(self, error: BaseException) -> None:
        if isinstance(error, ModuleNotFoundError) and error.name in FRAMEWORKS:
            self._missing = error.name or ""
        try:
            message = str(error)
        except Exception:
            message = "<the exception cannot be shown>"
        self._raised = Raised(type(error).__name__, message, user_site(error))

    def _found_so_far(self) -> int:
        observed = self.registry.guard("look at the updates so far", self.registry.peek) or {}
        findings, _ = judged(observed)
        return sum(f.severity is not Severity.NOTE for f in findings)

    def _look(self) -> Look:
        """What there is to see while the program trains; quick, because it waits for this."""
        seconds = time.perf_counter() - self._started
        observed = self.registry.peek()
        running = {n: replace(o, evidence=replace(o.evidence, running=True)) for n, o in observed.items()}
        copies = self._summaries.watching.copies() if self._summaries is not None else ()
        return Look(running, copies, seconds)

    def _keep_look(self, look: Look) -> None:
        """Judge what was seen, in a thread of our own, and put it on disk."""
        run = replace(self._described(look.observed, look.seconds), finished=False)
        run = replace(run, notes=(Note(sentences.SO_FAR), *run.notes))
        if self._summaries is not None:
            run = replace(run, watched=self._summaries.keep(run, look.copies))
        if self._keep is not None:
            self._keep(run)

    def _conclude(self) -> Run:
        if self._snapshots is not None:
            self._snapshots.stop()
        if self._progress is not None:
            self._progress.close()
        seconds = time.perf_counter() - self._started
        observed = self.registry.observe()
        self._leave()
        run = self._described(observed, seconds)
        if self._summaries is not None:
            watched = self._summaries.finish(run)
            run = replace(run, watched=watched, notes=(*run.notes, *notes(watched)))
        return sentences.added(run, self._missing, self._stopper)

    def _described(self, observed: Mapping[str, Observation], seconds: float) -> Run:
        findings, trouble = judged(observed)
        seen = pictured(observed, findings)
        run = Run(
            script=self.program.label,
            argv=self.program.args,
            frameworks=tuple(self.registry.seen),
            versions=_versions(observed, self.registry.seen),
            exit_code=self._exit_code,
            exception=self._raised,
            updates=tuple(u for o in observed.values() for u in o.updates),
            findings=findings,
            notes=(
                *self.registry.notes,
                *(note for o in observed.values() for note in o.notes),
                *trouble,
                *seen.certificates,
            ),
            gradient_map=seen.gradient_map,
            roles=seen.roles,
            seconds=seconds,
            stopped_early=self._was_stopped(),
            started=self._since,
            pid=os.getpid(),
            host=socket.gethostname(),
            drawing=seen.drawing,
        )
        return replace(run, sources=excerpts(run))


def _status(code: object) -> int:
    """The exit status that python makes of ``sys.exit(code)``."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def _versions(observed: Mapping[str, Observation], seen: list[str]) -> tuple[tuple[str, str], ...]:
    found = [("python", sys.version.split()[0])]
    for name in seen:
        version = observed[name].version if name in observed else ""
        found.append((name, version or _version_of(sys.modules.get(name))))
    return tuple(found)


def _version_of(module: ModuleType | None) -> str:
    return str(getattr(module, "__version__", "") or "")


_live: weakref.WeakSet[Session] = weakref.WeakSet()


def _in_forked_child() -> None:
    for session in list(_live):
        session.step_aside()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
