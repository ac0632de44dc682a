"""``whygrad runs``: which runs there are, how they ended and what was found in them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad import strangers
from whygrad.cli.saying import say
from whygrad.cli.stream import color_for, width_of
from whygrad.model import Run, Severity
from whygrad.reporters import runs as listing
from whygrad.reporters.runs import PastRun
from whygrad.running.past import past_runs

_DESCRIPTION = """Lists the run directories below DIR, the newest first. A run that was killed has the report
of its last look; one that is still running has the findings up to then."""


def main(argv: Sequence[str]) -> int:
    """Print the list on stdout."""
    parser = argparse.ArgumentParser(prog="whygrad runs", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("folder", nargs="?", default="runs", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    options = parser.parse_args(argv)
    folder = Path(options.folder)
    if not folder.is_dir() and options.folder != "runs":
        parser.exit(2, f"whygrad: there is no folder {options.folder!r}\n")
    try:
        found = past_runs(folder) if folder.is_dir() else []
    except OSError as error:
        parser.exit(2, f"whygrad: {folder} cannot be read: {error.strerror}\n")
    if options.json:
        say(json.dumps([_data(run) for run in found], indent=1, ensure_ascii=False), sys.stdout)
    elif found:
        say(listing.render(found, color_for(sys.stdout), _width()), sys.stdout)
    else:
        print(f"there is no run in {folder} yet: whygrad run train.py makes one")
    return 0


def _width() -> int:
    """As wide as the terminal; a pipe takes everything."""
    narrow = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return width_of(sys.stdout) if narrow else 10_000


def _data(past: PastRun) -> dict[str, object]:
    known = {
        "folder": strangers.line(past.folder),
        "started": past.started.isoformat(timespec="seconds"),
        "ended": past.ended,
    }
    run = past.run
    if run is None:
        return {**known, "trouble": past.trouble}
    return {
        **known,
        "script": run.script,
        "argv": list(run.argv),
        "exit_code": run.exit_code if run.finished else None,
        "seconds": round(run.seconds, 3),
        "updates": past.updates,
        "verdict": str(run.verdict),
        "healthy": run.healthy,
        "errors": len(run.at(Severity.ERROR)),
        "warnings": len(run.at(Severity.WARNING)),
        "first": _first(run),
    }


def _first(run: Run) -> dict[str, object] | None:
    """The finding to look at first."""
    if run.clean:
        return None
    found = run.findings[0]
    site = found.site
    where = {"file": site.file, "line": site.line} if site else {"file": None, "line": None}
    return {"rule": found.rule, "title": found.title, **where}
