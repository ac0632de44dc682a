"""``whygrad fix``: a change of the user's source for each finding, shown when it has proven itself."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whygrad.cli import check, choosing, target
from whygrad.cli.stream import color_for, width_of
from whygrad.running.limits import Limits
from whygrad.running.program import Program
from whygrad.storage.directory import EVIDENCE, FIXES, REPORT, RunDirectory

if TYPE_CHECKING:
    from whygrad.fixing.trying import Tried

_LONGER = 40  # times as many updates, where a few show nothing

_DESCRIPTION = """Checks a script, and tries the smallest changes that may cure what was found: each changed
copy is run under check, and only what has proven itself is shown, as a diff. Nothing is written without
--apply. Exit code, of the files as they are left: 0 healthy, 1 errors or warnings, 2 wrong use or no update
to judge."""


def main(argv: Sequence[str]) -> int:
    """Fix it, and answer with the exit code."""
    default = Limits()
    parser = target.bare_parser("fix", _DESCRIPTION)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--apply", action="store_true", help="write the proven changes into the files")
    mode.add_argument(
        "--diff", action="store_true", help="print the diff of the proven changes, and nothing else"
    )
    parser.add_argument("--json", metavar="FILE", help="write what was tried and proven to FILE; - prints it")
    parser.add_argument("--first", action="store_true", help="stop at the first change that proves itself")
    parser.add_argument(
        "--updates", type=check.positive(int), default=default.updates, metavar="N", help="as in check"
    )
    parser.add_argument(
        "--seconds",
        type=check.positive(float),
        default=default.seconds,
        metavar="S",
        help="as in check, for each run",
    )
    parser.add_argument("--out", metavar="DIR", help="the run directory (default: runs/<script>-<time>/)")
    choosing.add_options(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing of our own but the diff")
    options, program = target.parse(parser, argv)
    if not _has_libcst():
        parser.exit(2, "whygrad: fix needs LibCST, which keeps your formatting: pip install 'whygrad[fix]'\n")
    choosing.choice(parser, options, program.folder)  # a rule that does not exist is wrong use
    return _fix(options, program)


def _has_libcst() -> bool:
    try:
        return importlib.util.find_spec("libcst") is not None
    except ValueError:
        return False


def _fix(options: argparse.Namespace, program: Program) -> int:
    from whygrad.fixing.treatment import Treatment, Unsafe
    from whygrad.fixing.trying import Trials
    from whygrad.reporters import fixes

    progress = _Progress(quiet=options.quiet)
    limits = Limits(options.updates, options.seconds)
    wanted = {key: getattr(options, key) for key in ("select", "ignore") if getattr(options, key)}
    trials = Trials(program, limits, Path.cwd(), wanted)
    longer = replace(trials, limits=Limits(options.updates * _LONGER, options.seconds))
    treatment = Treatment(program, Path.cwd(), trials, progress.tell, not options.first, longer)
    told = treatment.run()
    progress.close()
    if options.apply and told.files:
        try:
            told = treatment.apply()
        except (Unsafe, OSError) as error:
            print(f"whygrad: nothing was written: {error}", file=sys.stderr)
            return 1
    document = fixes.as_json(told)
    if treatment.first.run is not None and not options.quiet:
        _keep(
            RunDirectory(program.stem, Path(options.out) if options.out else None), treatment.first, document
        )
    if options.json:
        _hand_over(options.json, document)
    if options.diff:
        sys.stdout.write(told.diff)
    elif options.json != "-":
        color, width = color_for(sys.stdout), width_of(sys.stdout)
        sys.stdout.write(fixes.as_text(told, color, width, quiet=options.quiet))
    return told.exit_code


def _keep(directory: RunDirectory, first: Tried, document: str) -> None:
    """A run directory of the program as it is, with what was proven: for report, judge and SARIF."""
    from whygrad.reporters import fixes, json_report

    try:
        if first.run is not None:
            directory.write(REPORT, json_report.render(fixes.patched(first.run, document)))
        if first.evidence:
            directory.write(EVIDENCE, first.evidence)
        directory.write(FIXES, document)
    except OSError as error:
        print(f"whygrad: the run directory could not be written: {error}", file=sys.stderr)


def _hand_over(to: str, text: str) -> None:
    if to == "-":
        sys.stdout.write(text)
    else:
        Path(to).write_text(text, encoding="utf-8")


class _Progress:
    """One line on stderr that says what is being tried: redrawn on a terminal, else a line each."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._drawn = False

    def tell(self, text: str) -> None:
        """What happens now."""
        if self._quiet:
            return
        if self._terminal:
            sys.stderr.write(f"\r\x1b[Kwhygrad: {text[: width_of(sys.stderr) - 12]}")
            self._drawn = True
        else:
            sys.stderr.write(f"whygrad: {text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Take the line away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
