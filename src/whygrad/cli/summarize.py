"""``whygrad summarize``: what event files say, whichever tool wrote them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.reporters import curves
from whygrad.summaries import interpreting, reading

HELP = "read the event files of any tool and say what their gradients and losses show"

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
        parser.exit(2, f"whygrad: {folder} cannot be read: {error}\n")
    if not runs:
        parser.exit(2, f"whygrad: there are no event files (*tfevents*) in {folder}\n")
    found = {run: interpreting.remarks(series) for run, series in runs.items()}
    sys.stdout.write(curves.render(str(folder), runs, found))
    return int(any(found.values()))
