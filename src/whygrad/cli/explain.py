"""``whygrad explain``: the rules, or one of them in full."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from whygrad.cli.stream import color_for
from whygrad.cli.verbs import VERBS
from whygrad.reporters.explain import render_list, render_rule


def main(argv: Sequence[str]) -> int:
    """Print the page on stdout; 2, and the nearest name, for a rule that there is not."""
    parser = argparse.ArgumentParser(prog="whygrad explain", description=VERBS["explain"], allow_abbrev=False)
    parser.add_argument("slug", nargs="?", metavar="SLUG", help="the name of a rule, for example: detached")
    slug = parser.parse_args(argv).slug
    color = color_for(sys.stdout)
    try:
        text = render_rule(slug, color) if slug else render_list(color)
    except LookupError as error:
        print(f"whygrad: {error.args[0]}", file=sys.stderr)
        return 2
    print(text.rstrip("\n"))
    return 0
