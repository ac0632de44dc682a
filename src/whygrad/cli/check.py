"""``whygrad check``: the same diagnosis, but the program ends as soon as every optimizer was judged."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from whygrad.cli import choosing, launching, target
from whygrad.cli.output import Output
from whygrad.cli.supervise import supervise
from whygrad.model import Run
from whygrad.processes.launcher import Launcher
from whygrad.running import patched
from whygrad.running.limits import Limits
from whygrad.running.sentences import failed_ourselves, made_updates

_DESCRIPTION = """Runs a script until every optimizer that it uses has made a few updates, ends it cleanly,
and says what was found. Exit code: 0 healthy, 1 errors or warnings, 2 wrong use or no update to judge;
a script that fails by itself keeps its own exit code."""


def main(argv: Sequence[str]) -> int:
    """Check it, and answer with the exit code."""
    default = Limits()
    parser = target.parser("check", _DESCRIPTION)
    parser.add_argument(
        "--updates",
        type=positive(int),
        default=default.updates,
        metavar="N",
        help="updates of each optimizer that are judged (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds",
        type=positive(float),
        default=default.seconds,
        metavar="S",
        help="end the script after S seconds in any case, counted from its start (default: %(default)g)",
    )
    parser.add_argument(
        "--patched", metavar="FILE", help=argparse.SUPPRESS
    )  # how `whygrad fix` tries a change
    options, program = target.parse_any(parser, argv)
    if options.patched:
        patched.install(Path(options.patched))
    limits = Limits(options.updates, options.seconds)
    choice = choosing.choice(parser, options, program.folder)
    if isinstance(program, Launcher):
        return launching.supervise(program, Output.of(options, program), exit_code, limits, choice)
    return supervise(program, Output.of(options, program), exit_code, limits, choice=choice)


def exit_code(run: Run) -> int:
    """0 healthy, 1 findings, 2 not judged; a script that failed by itself keeps its code."""
    if not run.clean:
        return 1
    if run.exit_code:
        return run.exit_code
    return 0 if made_updates(run) and not failed_ourselves(run) else 2


def positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    """A number of this kind, and more than nothing."""

    def convert(text: str) -> float:
        number = kind(text)
        if not number > 0:
            raise ValueError
        return number

    convert.__name__ = "positive number"
    return convert
