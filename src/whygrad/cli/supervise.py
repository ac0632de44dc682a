"""From the first line of the program to the last line of ours."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable

from whygrad.cli import bare
from whygrad.cli.output import Output
from whygrad.cli.telling import Telling
from whygrad.doors import door
from whygrad.model import Run
from whygrad.model.choice import Choice
from whygrad.processes import start
from whygrad.processes.group import Group, launched
from whygrad.processes.member import take_over
from whygrad.processes.settings import Settings, withdraw
from whygrad.processes.tree import Tree
from whygrad.running import keeping
from whygrad.running.bare import begun
from whygrad.running.limits import Limits
from whygrad.running.program import Program
from whygrad.running.session import Session
from whygrad.running.snapshots import LIVE
from whygrad.running.summaries import Summaries


def supervise(
    program: Program,
    output: Output,
    exit_code: Callable[[Run], int],
    limits: Limits | None = None,
    summaries: Summaries | None = None,
    choice: Choice | None = None,
    told: Telling | None = None,
    live: bool = False,
) -> int:
    """Run the program; the report comes at the very end, and ``exit_code`` says how we exit.

    Our exit handler is registered before any of the program's, so python calls it last: after the
    traceback, after waiting for threads, after the program's own exit handlers. All of that is left to
    python itself.
    """
    keeping.prepare(program.folder)
    tree, lost = joined(output, limits)
    keep = tree.keep if isinstance(tree, Group) else told.keep if told is not None else None
    ending = _Ending(output, exit_code, told, tree)
    ending.session = session = Session(
        program,
        limits,
        give_up=ending.give_up,
        summaries=summaries,
        progress=not output.quiet,
        keep=keep if limits is None else None,  # a check is over in a moment
        choice=choice,
        pace=LIVE if live else None,
        on_fork=take_over if tree is not None else None,
    )
    if lost is not None:
        session.lost("watch the processes that the program starts", lost)
    atexit.register(ending.at_exit)
    try:
        session.execute()
    except Exception:
        if not begun:  # our own: whoever runs the program without us will say so
            atexit.unregister(ending.at_exit)
        raise
    return 0


def joined(output: Output, limits: Limits | None) -> tuple[Tree | Group | None, Exception | None]:
    """The run of this process and of all that it starts; or why it runs alone."""
    try:
        start.stay_away()
        withdraw()
        tree = Group(output.directory) if launched() else Tree(output.directory)
        tree.spread(settings(tree, output, limits))
        return tree, None
    except Exception as error:
        return None, error


def settings(tree: Tree | Group, output: Output, limits: Limits | None) -> Settings:
    """What its processes are told."""
    least, longest = (limits.updates, limits.seconds) if limits is not None else (0, 0.0)
    return Settings(str(tree.folder), output.source, least, longest)


class _Ending:
    """The report and the exit code, once everything of the program is over."""

    session: Session

    def __init__(
        self,
        output: Output,
        exit_code: Callable[[Run], int],
        told: Telling | None,
        tree: Tree | Group | None,
    ) -> None:
        self._output = output
        self._told = told
        self._exit_code = exit_code
        self._tree = tree

    @door
    def at_exit(self) -> None:
        """Python is about to exit with the program's own exit code; change that only if we must."""
        if self.session.aside:
            return
        try:
            run = self._report()
            code = self._exit_code(run)
            if code != run.exit_code and not self.session.interrupted:
                _leave(code)
        except KeyboardInterrupt:
            return  # the user has seen enough
        except Exception as error:
            self._without(error)

    @door
    def give_up(self) -> None:
        """The program would not end although it was told to: report now, and take it down."""
        code = 2
        try:
            code = self._exit_code(self._report())
            _end_children()
            _leave(code)
        except Exception as error:
            self._without(error)
        os._exit(code)

    def _report(self) -> Run:
        try:
            run = self.session.finish()
        except Exception as error:
            run = self.session.unfinished(error)
        try:
            gathered = self._tree.gather(run, self.session.recording) if self._tree is not None else run
            if gathered is None:
                return run  # another rank tells of it
            run = gathered
        except Exception as error:
            self._without(error)
        try:
            shared = isinstance(self._tree, Group)  # where the evidence of this rank is among the others
            self._output.write(run, None if shared else self.session.recording)
        except Exception as error:
            self._without(error)
        if self._told is not None:
            with contextlib.suppress(Exception):
                self._told.end(run)
        return run

    def _without(self, error: Exception) -> None:
        """Our report has failed: leave one that says so."""
        program = self.session.program
        why = f"the report failed: {type(error).__name__}: {error}"
        with contextlib.suppress(Exception):
            text = bare.document(program.target, program.args, self.session.exit_code, why)
            self._output.leave(text)


def _end_children() -> None:
    """Children of ``multiprocessing`` would train on without their parent."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None:
        with contextlib.suppress(Exception):
            for child in multiprocessing.active_children():
                child.terminate()


def _leave(code: int) -> None:
    """Exit with this code, now that everything else is done: an exit handler cannot do it otherwise."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)
