"""``whygrad``: which verb, then hand over to its file."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import shlex
import sys
from collections.abc import Sequence

from whygrad import __version__
from whygrad.cli.verbs import VERBS

#: Their process is the program's: what goes wrong with its output is its own affair.
_PROGRAMS = ("run", "check", "train")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args and args[0] in _PROGRAMS:
        return _verb(args[0], args[1:])
    try:
        code = _verb(args[0], args[1:]) if args and args[0] in VERBS else _no_verb(args)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough, as in `whygrad explain | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141  # as a shell says of a program that ended so
    return code


def _verb(name: str, args: Sequence[str]) -> int:
    """Only the file of this verb is imported."""
    code: int = importlib.import_module(f"whygrad.cli.{name}").main(args)
    return code


def _no_verb(args: Sequence[str]) -> int:
    """Help, the version, or a sentence about what could have been meant."""
    parser = _parser()
    if args and not args[0].startswith("-"):
        parser.exit(2, f"whygrad: {_meant(args)}\n")
    parser.parse_args(args)  # -h, --version, or an error
    parser.print_help()
    return 0


def _meant(args: Sequence[str]) -> str:
    if args[0].endswith(".py"):
        return f"say what to do with it: whygrad run {shlex.join(args)}"
    near = difflib.get_close_matches(args[0], VERBS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`whygrad --help` lists them"
    return f"there is no command {args[0]!r}; {hint}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="whygrad",
        description="Runs your unmodified training script and tells why a parameter gets no gradient.",
        epilog="Start with: whygrad run train.py   (everything after the script belongs to the script)",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"whygrad {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, text in VERBS.items():
        verbs.add_parser(name, help=text, add_help=False)
    return parser
