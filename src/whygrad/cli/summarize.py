"""``whygrad summarize``: what event files say, whichever tool wrote them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad import strangers
from whygrad.cli.saying import refuse, say
from whygrad.reporters import curves
from whygrad.summaries import interpreting, reading

_DESCRIPTION = """Reads TensorBoard event files below a folder (of TF-Agents, Stable-Baselines3, CleanRL,
torch's SummaryWriter, tf.summary or whygrad) and says which gradients and losses are not as they should be.
Exit code: 0 nothing to remark, 1 something, 2 no event file."""


def main(argv: Sequence[str]) -> int:
    """Read, interpret, print."""
    parser = argparse.ArgumentParser(prog="whygrad summarize", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("folder", metavar="DIR", help="a folder with event files in it, or below it")
    folder = Path(parser.parse_args(argv).folder)
    if not folder.is_dir():
        parser.exit(2, f"whygrad: there is no folder {str(folder)!r}\n")
    try:
        runs = reading.curves(folder)
    except OSError as error:
        return refuse(f"{folder} cannot be read: {error}")
    if not runs:
        return refuse(f"there are no event files (*tfevents*) in {folder}")
    found = {run: interpreting.remarks(series) for run, series in runs.items()}
    say(curves.render(strangers.line(folder), runs, found), sys.stdout)
    return int(any(found.values()))
