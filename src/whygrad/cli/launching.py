"""A program that somebody else starts: torchrun, accelerate, a script. Its processes are watched, not it."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from whygrad.cli.output import Output
from whygrad.cli.supervise import settings
from whygrad.model import About, Note, Run
from whygrad.model.choice import Choice
from whygrad.processes.launcher import Launcher
from whygrad.processes.tree import Tree
from whygrad.running.concluding import conclude
from whygrad.running.ignoring import ignoring
from whygrad.running.limits import Limits

_UNSEEN = (
    "no process of it has told of itself: whygrad has to be installed for the python that it starts, and the "
    "program has to import a framework there"
)


def supervise(
    launcher: Launcher,
    output: Output,
    exit_code: Callable[[Run], int],
    limits: Limits | None = None,
    choice: Choice | None = None,
) -> int:
    """Run it, and tell of all its processes once it is over. Ends as it has ended, but for ``exit_code``."""
    tree = Tree(output.directory)
    output.directory.path()
    tree.spread(settings(tree, output, limits))
    began, since = time.perf_counter(), datetime.now().astimezone().isoformat(timespec="seconds")
    ended = launcher.run()
    code = ended if ended >= 0 else 128 - ended
    about = About(
        script=_script(launcher),
        argv=launcher.command[launcher.command.index(_script(launcher)) + 1 :],
        exit_code=code,
        seconds=time.perf_counter() - began,
        started=since,
        host=socket.gethostname(),
    )
    alone = conclude({}, about)
    run = tree.gather(alone) or alone
    if not run.processes:
        run = replace(run, notes=(*run.notes, Note(_UNSEEN)))
    run = ignoring(run, choice or Choice())
    output.write(run)
    wanted = exit_code(run)
    if ended < 0 and wanted == code:
        _end_with(-ended)
    return wanted


def _script(launcher: Launcher) -> str:
    """What the user calls the program."""
    return next((word for word in launcher.command if word.endswith(".py")), launcher.command[0])


def _end_with(number: int) -> None:
    """By the same signal, so that whoever waits for us sees what he would have seen."""
    if os.name == "posix":
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
