"""The options of ``whygrad run`` that ask for summaries."""

from __future__ import annotations

import argparse

from whygrad.cli.output import Output
from whygrad.running.summaries import Summaries
from whygrad.summaries.kernel import NoKernel
from whygrad.summaries.schedule import Schedule

EVERY = 100


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--watch``, and how often."""
    parser.add_argument(
        "--watch",
        action="store_true",
        help=f"write summaries of gradients and variables for TensorBoard, every {EVERY} updates",
    )
    parser.add_argument("--every", type=_positive, metavar="N", help="with --watch: every N updates")
    parser.add_argument("--no-histograms", action="store_true", help="with --watch: numbers only")


def summaries(
    parser: argparse.ArgumentParser, options: argparse.Namespace, output: Output
) -> Summaries | None:
    """What was asked for; nothing without ``--watch`` or ``--every``."""
    if not options.watch and options.every is None:
        return None
    try:
        return Summaries(
            Schedule(every=options.every or EVERY), output.directory.path, not options.no_histograms
        )
    except NoKernel as error:
        parser.exit(2, f"whygrad: {error}\n")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "positive number"
