"""``whygrad judge``: a recorded run, judged again with the rules of today."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.cli.actions import Actions, root_of
from whygrad.cli.output import Output
from whygrad.cli.run_directories import NotARun, judged
from whygrad.cli.saying import refuse
from whygrad.storage.directory import RunDirectory

_DESCRIPTION = """Judges the evidence of a run again, with the rules of this version, and says what
whygrad run would have said. Nothing is executed, and no framework is needed. Exit code: 0 healthy,
1 errors or warnings, 2 not judged: the evidence cannot be read, or whygrad had lost sight of the run."""


def main(argv: Sequence[str]) -> int:
    """Print what was found; 2, and one sentence, where there is nothing to judge."""
    parser = argparse.ArgumentParser(prog="whygrad judge", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        help="its directory or its evidence.wg (default: the newest in runs/)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the report to FILE; - prints it")
    parser.add_argument("--sarif", metavar="FILE", help="write the findings to FILE as SARIF; - prints them")
    parser.add_argument("--github", action="store_true", help="as whygrad run --github")
    options = parser.parse_args(argv)
    if options.json == "-" and options.sarif == "-":
        parser.error("--json - and --sarif - cannot both be printed: write one of them to a file")
    try:
        stored = judged(options.run)
    except NotARun as error:
        return refuse(error)
    with stored.reading():
        output_of(options).write(stored.run)
    return 1 if not stored.run.clean else 2 if stored.run.blind else 0


def output_of(options: argparse.Namespace) -> Output:
    """Our words go to stdout, unless that is wanted for something else."""
    base = Path.cwd()
    taken = "-" in (options.json, options.sarif)
    return Output(
        directory=RunDirectory("judge", base=base),
        source=True,
        json=options.json or "",
        sarif=options.sarif or "",
        github=Actions.here() if options.github else None,
        root=root_of(base),
        quiet=False,
        stdout=sys.stdout,
        stderr=sys.stderr if taken else sys.stdout,
        keeps=False,
    )
