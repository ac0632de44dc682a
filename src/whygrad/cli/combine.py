"""``whygrad combine``: what many processes have left, from one machine or from many, made one run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.cli.judge import output_of
from whygrad.model import Run
from whygrad.processes.combining import combine
from whygrad.processes.files import judged
from whygrad.running import keeping
from whygrad.storage.directory import RunDirectory

_DESCRIPTION = """Makes one report of what the processes of a run have left in its directory: of a run that
was killed, or of one on several machines, whose directories were copied together. Exit code: 0 healthy,
1 errors or warnings, 2 nothing to combine."""


def main(argv: Sequence[str]) -> int:
    """Print what was found in all of them."""
    parser = argparse.ArgumentParser(prog="whygrad combine", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", help="run directories, or folders with some in them"
    )
    parser.add_argument("--out", metavar="DIR", help="write report.json there, too")
    parser.add_argument("--json", metavar="FILE", help="write the report to FILE; - prints it")
    parser.add_argument("--sarif", metavar="FILE", help="write the findings to FILE as SARIF; - prints them")
    parser.add_argument("--github", action="store_true", help="as whygrad run --github")
    options = parser.parse_args(argv)
    if options.json == "-" and options.sarif == "-":
        parser.error("--json - and --sarif - cannot both be printed: write one of them to a file")
    run = combined([Path(folder) for folder in options.folders])
    if run is None:
        print(f"whygrad: no process has left anything in {', '.join(options.folders)}", file=sys.stderr)
        return 2
    output_of(options).write(run)
    if options.out:
        keeping.keep_report(RunDirectory("combined", Path(options.out)), run)
    return 1 if not run.clean else 0


def combined(folders: Sequence[Path]) -> Run | None:
    """The run of all processes that have left something in these folders."""
    members = [run for folder in folders for run in judged(folder)]
    if not members:
        return None
    scripts = [run.script for run in members if any(u.count for u in run.updates)]
    script, argv = (scripts or [members[0].script])[0], members[0].argv
    return combine(Run(script=script, argv=argv, started=min(run.started for run in members)), members)
