"""One watched run of a program, from its first line to the finished ``Run``."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from whygrad.doors import door
from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.registry import Registry, brief
from whygrad.model import About, Note, Observation, Raised, Recording, Run, Severity
from whygrad.model.choice import Choice
from whygrad.model.frameworks import FRAMEWORKS, Framework
from whygrad.running import bare, sentences
from whygrad.running.concluding import conclude, described, findings, with_summaries
from whygrad.running.hooks import PrintedTracebacks, ThreadHook, show_without_us
from whygrad.running.limits import Limits, Stopper, caused_by_stop
from whygrad.running.program import Program, Stage
from whygrad.running.progress import Progress, wanted
from whygrad.running.snapshots import Pace, Snapshots
from whygrad.running.summaries import Summaries
from whygrad.running.tracebacks import peel, user_site
from whygrad.summaries.history import History


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
        frameworks: Mapping[str, Framework] = FRAMEWORKS,
        give_up: Callable[[], None] = lambda: None,
        summaries: Summaries | None = None,
        progress: bool = False,
        keep: Callable[[Run, Recording], None] | None = None,
        choice: Choice | None = None,
        pace: Pace | None = None,
        on_fork: Callable[[Registry], None] | None = None,
    ) -> None:
        self.program = program
        self.on_fork = on_fork  # who watches a forked child; without it nobody does
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
            self.registry.summarize(summaries.watching)
        self._choice = choice
        self._keep = keep  # puts a report into the run directory while the program runs
        self._snapshots = (
            Snapshots(self.registry.after_next_step, self._look, self._keep_look, pace) if keep else None
        )
        self._hooks = (ThreadHook(self._failed_in_thread, self._unpeeled), PrintedTracebacks(self._unpeeled))
        self._raised: Raised | None = None
        self._missing = ""  # a framework that the program asked for and did not find
        self._exit_code = 0
        self._stopped = False
        self._started, self._since = time.perf_counter(), ""
        self._finished: Run | None = None
        self.recording: Recording | None = None  # once it is finished
        self._trouble: list[Note] = []  # our own failures outside of the registry
        self._blind = ""  # why the run could not be watched at all
        self._finishing = threading.Lock()
        _live.add(self)

    def execute(self) -> None:
        """Run the program; whatever python should see of its end comes out."""
        stage = None
        bare.begun.clear()
        try:
            stage = self._stage = self.program.prepare()
            self._begin()
        except Exception as error:
            self._cannot("watch this run", error)
        try:
            self._run(stage)
        except BaseException as error:
            try:
                self._ended_by(error)
            except Exception as ours:
                code = error.code if isinstance(error, SystemExit) else 1
                self._exit_code = code if isinstance(code, int) else int(code is not None)
                self._cannot("see how the program ended", ours)
            if not self._stopped:
                raise
        finally:
            if self._stopper:
                self._stopper.program_ended()

    def _begin(self) -> None:
        """Everything that watches. If one thing fails, the others watch all the same."""
        self._started = time.perf_counter()
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")
        guard = self.registry.guard
        for hook in self._hooks:
            guard("look at exceptions", hook.install)
        if self._snapshots is not None:
            guard("keep reports while the program runs", self._snapshots.start)
        self.registry.start()
        if self._summaries is not None:
            guard("write summaries", self._summaries.start)
        if self._progress is not None:
            guard("show how far it is", self._progress.start)
        if self._stopper:
            self._stopper.start()

    def _run(self, stage: Stage | None) -> None:
        if stage is not None:
            try:
                self.program.run(stage)
            except Exception as error:
                if bare.begun:
                    raise
                self._cannot("watch this run", error)
        if not bare.begun:  # not in the handler: what failed is nothing to the program's own exceptions
            bare.execute(self.program.target, self.program.args, self.program.is_module)

    def lost(self, what: str, error: Exception) -> str:
        """Something could not be done, and the rest can be judged all the same."""
        why = f"whygrad could not {what}: {brief(error)}"
        self._trouble.append(Note(why, kind="internal"))
        return why

    def _cannot(self, what: str, error: Exception) -> None:
        """Our own failure outside of all backends."""
        why = self.lost(what, error)
        if not bare.begun:
            self._blind = self._blind or why
            with suppress(Exception):
                self._leave()

    def finish(self) -> Run:
        """Detach, judge, and say how it went. The second call gives the same answer."""
        with self._finishing:
            if self._finished is None:
                if self._stopper:
                    self._stopper.finish()
                try:
                    self._finished = self._conclude()
                except Exception as error:
                    self._finished = self.unfinished(error)
            return self._finished

    def unfinished(self, error: Exception) -> Run:
        """What is left when our own end fails: how the program ended, and that nothing was judged."""
        with suppress(Exception):
            self._leave()
        why = f"whygrad could not finish: {brief(error)}"
        return Run(
            self.program.target,
            self.program.args,
            frameworks=tuple(self.registry.seen),
            exit_code=self._exit_code,
            exception=self._raised,
            notes=(*self._trouble, Note(why, kind="internal")),
            blind=why,
        )

    @property
    def exit_code(self) -> int:
        """The program's own."""
        return self._exit_code

    def step_aside(self) -> None:
        """This is a forked child: take everything away and stay silent, or hand it over."""
        if self._summaries is not None:
            self._summaries.step_aside()
            self._summaries.watching.told = None
        if self.on_fork is not None:
            self.on_fork(self.registry)
        else:
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

    def _unpeeled(self, error: Exception) -> None:
        self._cannot("take its own lines out of a traceback", error)

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
        return sum(f.severity is not Severity.NOTE for f in findings(observed))

    def _look(self) -> Look:
        """What there is to see while the program trains; quick, because it waits for this."""
        seconds = time.perf_counter() - self._started
        observed = self.registry.peek()
        running = {n: replace(o, evidence=replace(o.evidence, running=True)) for n, o in observed.items()}
        copies = self._summaries.watching.copies() if self._summaries is not None else ()
        return Look(running, copies, seconds)

    def _keep_look(self, look: Look) -> None:
        """Judge what was seen, in a thread of our own, and put it on disk."""
        about = self._about(look.seconds)
        so_far = replace(about, finished=False, notes=(Note(sentences.SO_FAR), *about.notes))
        about = described(so_far, self.registry, look.observed)
        run = conclude(look.observed, about)
        if self._summaries is not None:
            about = replace(about, watched=self._summaries.keep(run, look.copies))
            run = with_summaries(run, about.watched)
        if self._keep is not None:
            self._keep(run, Recording(about, look.observed))

    def _conclude(self) -> Run:
        guard = self.registry.guard
        if self._snapshots is not None:
            guard("end the reports while the program runs", self._snapshots.stop)
            if self._snapshots.trouble:
                text = f"there was no report while the program ran: {self._snapshots.trouble}"
                self._trouble.append(Note(text, kind="internal"))
        if self._progress is not None:
            guard("take the line away", self._progress.close)
        seconds = time.perf_counter() - self._started
        observed = self.registry.observe()
        guard("leave everything as it was", self._leave)
        about = described(self._with_sentence(self._about(seconds), observed), self.registry, observed)
        run = conclude(observed, about)
        if self._summaries is not None:
            run, about = self._summarized(self._summaries, run, about)
        self.recording = Recording(about, observed)
        return run

    def _summarized(self, summaries: Summaries, run: Run, about: About) -> tuple[Run, About]:
        watched = self.registry.guard("finish the summaries", partial(summaries.finish, run))
        late = tuple(note for note in self.registry.notes if note not in about.notes)
        about = replace(about, watched=watched, notes=(*about.notes, *late))
        return with_summaries(replace(run, notes=(*run.notes, *late)), watched), about

    def _with_sentence(self, about: About, observed: Mapping[str, Observation]) -> About:
        stepped = any(u.count for o in observed.values() for u in o.updates)
        told = sentences.needed(about.script, stepped, self._missing, self._stopper)
        return replace(about, notes=(*told, *about.notes))

    def _about(self, seconds: float) -> About:
        return About(
            script=self.program.label,
            argv=self.program.args,
            exit_code=self._exit_code,
            exception=self._raised,
            notes=tuple(self._trouble),
            seconds=seconds,
            stopped_early=self._was_stopped(),
            started=self._since,
            blind=self._blind,
            choice=self._choice,
        )


def _status(code: object) -> int:
    """The exit status that python makes of ``sys.exit(code)``."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


_live: weakref.WeakSet[Session] = weakref.WeakSet()


@door
def _in_forked_child() -> None:
    for session in list(_live):
        session.aside = True
        with suppress(Exception):  # nobody will ever ask this child
            session.step_aside()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)
