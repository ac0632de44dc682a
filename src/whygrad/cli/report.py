"""``whygrad report``: one HTML file of a run."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from whygrad import strangers
from whygrad.cli.run_directories import NotARun, Stored, read
from whygrad.cli.saying import refuse, say
from whygrad.reporters import html_report
from whygrad.storage.directory import write_atomically, write_beside


def main(argv: Sequence[str]) -> int:
    """Make it; 2 where there is no run."""
    parser = argparse.ArgumentParser(
        prog="whygrad report", description="Makes one self-contained HTML file of a run.", allow_abbrev=False
    )
    parser.add_argument("run", metavar="RUN", nargs="?", help="its directory (default: the newest in runs/)")
    parser.add_argument("--to", metavar="FILE", help="where to write it (default: report.html in the run)")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    options = parser.parse_args(argv)
    try:
        stored = read(options.run)
        target = Path(options.to) if options.to else stored.folder / "report.html"
        (write_atomically if options.to else write_beside)(target, page(stored))
    except (NotARun, OSError) as error:
        return refuse(error)
    say(f"whygrad: {strangers.line(target)} ({target.stat().st_size / 1e6:.1f} MB)", sys.stderr)
    if options.open and not webbrowser.open(target.resolve().as_uri()):
        print("whygrad: no browser could be started; open the file by hand", file=sys.stderr)
    return 0


def page(stored: Stored) -> str:
    """The HTML of a stored run."""
    with stored.reading():
        return html_report.render(stored.run, stored.series(), stored.histograms())
