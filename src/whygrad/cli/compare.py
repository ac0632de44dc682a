"""``whygrad compare``: two runs side by side, and which variable's gradient differs first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad import strangers
from whygrad.cli.run_directories import NotARun, Stored, read
from whygrad.cli.saying import refuse, say
from whygrad.cli.stream import color_for, width_of
from whygrad.reporters import compare_html, compare_terminal
from whygrad.reporters.comparing import Side, compare
from whygrad.storage.directory import write_atomically


def main(argv: Sequence[str]) -> int:
    """Compare them; 2 where one is no run."""
    parser = argparse.ArgumentParser(
        prog="whygrad compare",
        description="Puts two runs side by side, a sick one and a healthy reference for instance.",
        allow_abbrev=False,
    )
    parser.add_argument("one", metavar="RUN", help="a run directory")
    parser.add_argument("other", metavar="RUN", help="another one")
    parser.add_argument("--html", metavar="FILE", help="write it as one HTML file, with a chart per variable")
    options = parser.parse_args(argv)
    try:
        stored = read(options.one), read(options.other)
        names = _names(*stored)
        sides = [Side(name, s.run, s.series()) for name, s in zip(names, stored, strict=True)]
        comparison = compare(*sides)
        if options.html:
            write_atomically(Path(options.html), compare_html.render(comparison))
    except (NotARun, OSError) as error:
        return refuse(error)
    say(compare_terminal.render(comparison, color_for(sys.stdout), width_of(sys.stdout)), sys.stdout)
    return 0


def _names(one: Stored, other: Stored) -> tuple[str, str]:
    """The folders' names; with their parents where they are the same."""
    names = [strangers.line(side.folder.resolve().name) for side in (one, other)]
    if names[0] == names[1]:
        names = [strangers.line(side.folder) for side in (one, other)]
    return names[0], names[1]
