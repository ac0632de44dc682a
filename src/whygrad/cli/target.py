"""Where our options end and the user's program begins."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence

from whygrad.cli import choosing
from whygrad.processes.launcher import Launcher
from whygrad.running.program import CannotRun, Program

#: Our options that take a value of their own.
_VALUED = {
    "--out",
    "--json",
    "--sarif",
    "--updates",
    "--seconds",
    "--every",
    "--select",
    "--ignore",
    "--notify",
    "--patched",
}


def bare_parser(verb: str, description: str) -> argparse.ArgumentParser:
    """For a verb that is given a program; without options."""
    prog = f"whygrad {verb}"
    launching = f"\n       {prog} [options] -- launcher [args ...]" if verb in ("run", "check") else ""
    return argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [options] script.py [args ...]\n       {prog} [options] -m module [args ...]"
        f"{launching}",
        description=description,
        epilog="Our options come before the script; everything after it belongs to the script.",
        allow_abbrev=False,
    )


def parser(verb: str, description: str) -> argparse.ArgumentParser:
    """The options that every verb has which watches a program."""
    result = bare_parser(verb, description)
    result.add_argument(
        "--out",
        metavar="DIR",
        help="the run directory (default: runs/<script>-<time>/); report.json goes there",
    )
    result.add_argument(
        "--json",
        metavar="FILE",
        help="write the report to FILE too; - prints it after the script's own output",
    )
    result.add_argument(
        "--sarif",
        metavar="FILE",
        help="write the findings to FILE for code scanning (SARIF 2.1.0); - prints them",
    )
    result.add_argument(
        "--github",
        action="store_true",
        help="in GitHub Actions: annotate the lines, and add to the summary of the job",
    )
    result.add_argument(
        "--no-source",
        action="store_true",
        help="leave the text of the program out of evidence.wg: to attach it where others read it",
    )
    choosing.add_options(result)
    result.add_argument("--quiet", action="store_true", help="print nothing of our own")
    return result


def parse(parser: argparse.ArgumentParser, argv: Sequence[str]) -> tuple[argparse.Namespace, Program]:
    """Our options and the user's program; wrong use ends with exit code 2 and one sentence."""
    options, program = parse_any(parser, argv)
    if isinstance(program, Launcher):
        parser.error(f"{program.command[0]} is no python script")
    return options, program


def parse_any(
    parser: argparse.ArgumentParser, argv: Sequence[str]
) -> tuple[argparse.Namespace, Program | Launcher]:
    """The same, where the program may be a command that starts others."""
    ours, target = split(argv)
    options = parser.parse_args(ours)
    if options.json == "-" and getattr(options, "sarif", "") == "-":
        parser.error("--json - and --sarif - cannot both be printed: write one of them to a file")
    if target[:1] == ["-m"]:
        if len(target) == 1:
            parser.error("-m needs the name of a module")
        return options, Program(target[1], tuple(target[2:]), is_module=True)
    if not target:
        parser.error(f"name the script to run: {parser.prog} train.py")
    if len(ours) < len(argv) and argv[len(ours)] == "--" and not target[0].endswith((".py", ".pyw")):
        return options, _launcher(parser, target)
    program = Program(target[0], tuple(target[1:]))
    try:
        program.check()
    except CannotRun as error:
        parser.exit(2, f"whygrad: {error}\n")
    return options, program


def _launcher(parser: argparse.ArgumentParser, command: list[str]) -> Launcher:
    if shutil.which(command[0]) is None:
        parser.exit(2, f"whygrad: there is no command {command[0]!r}\n")
    return Launcher(tuple(command))


def split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and the rest: from the script, or from ``-m``, on."""
    i = 0
    while i < len(argv):
        word = argv[i]
        if word == "--":
            return list(argv[:i]), list(argv[i + 1 :])
        if word == "-m" or not word.startswith("-") or word == "-":
            break
        i += 2 if word in _VALUED else 1
    return list(argv[:i]), list(argv[i:])
