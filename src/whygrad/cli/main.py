"""``whygrad``: which verb, then hand over to its file."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from whygrad import __version__
from whygrad.cli import (
    check,
    compare,
    convert,
    explain,
    fix,
    judge,
    parity,
    probe,
    report,
    run,
    runs,
    snake,
    summarize,
    train,
)

_VERBS = {
    "run": (run.main, run.HELP),
    "check": (check.main, check.HELP),
    "fix": (fix.main, fix.HELP),
    "judge": (judge.main, judge.HELP),
    "report": (report.main, report.HELP),
    "compare": (compare.main, compare.HELP),
    "runs": (runs.main, runs.HELP),
    "explain": (explain.main, explain.HELP),
    "convert": (convert.main, convert.HELP),
    "parity": (parity.main, parity.HELP),
    "snake": (snake.main, snake.HELP),
    "train": (train.main, train.HELP),
    "probe": (probe.main, probe.HELP),
    "summarize": (summarize.main, summarize.HELP),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args and args[0] in _VERBS:
        verb, _ = _VERBS[args[0]]
        return verb(args[1:])
    parser = _parser()
    if args and args[0].endswith(".py"):
        parser.exit(2, f"whygrad: say what to do with it: whygrad run {shlex.join(args)}\n")
    parser.parse_args(args)  # -h, --version, or an error
    parser.print_help()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="whygrad",
        description="Runs your unmodified training script and tells why a parameter gets no gradient.",
        epilog="Start with: whygrad run train.py   (everything after the script belongs to the script)",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"whygrad {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, (_, text) in _VERBS.items():
        verbs.add_parser(name, help=text, add_help=False)
    return parser
