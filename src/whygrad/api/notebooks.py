"""In a notebook: ``%load_ext whygrad``, then ``%%whygrad`` above a cell that trains.

Cells are called as their owner calls them ("cell 7, line 3"), not by the files that a kernel makes of them.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from whygrad.api.recording import Watched
from whygrad.api.summaries import chosen
from whygrad.storage.directory import RunDirectory


def load_ipython_extension(shell: Any) -> None:
    """Called for ``%load_ext whygrad``."""
    shell.register_magic_function(_Cell(shell), magic_kind="cell", magic_name="whygrad")


class _Cell:
    """``%%whygrad [--watch] [--every N] [--out DIR]``: the cell as it is, and below it what was found."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str) -> None:
        try:
            options = _parser().parse_args(shlex.split(line))
        except (ValueError, argparse.ArgumentError) as error:
            print(f"whygrad: {error}", file=sys.stderr)
            return
        directory = RunDirectory("cell", options.out)
        every = options.every or (100 if options.watch else 0)
        block = Watched(None, directory, chosen(every or False, directory, True), self._shell.user_ns)
        result = None
        try:
            with block:
                with _numbered(self._shell):
                    result = self._shell.run_cell(f"# %%whygrad\n{cell}")  # which shows what the cell raises
                if result.error_in_exec is not None:
                    raise result.error_in_exec
        except BaseException as error:
            if result is None or error is not result.error_in_exec:
                raise
        if result is not None and result.error_before_exec is None:
            from IPython.display import display

            display(block)


@contextmanager
def _numbered(shell: Any) -> Iterator[None]:
    """What is run inside belongs to the cell that runs now, whatever its own number would be."""
    names = getattr(shell.compile, "_filename_map", {})
    before = dict(names)
    try:
        yield
    finally:
        here = [*before.values()][-1:]
        names.update({name: here[0] for name in names if here and names[name] != before.get(name)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="%%whygrad", add_help=False, allow_abbrev=False, exit_on_error=False
    )
    parser.error = _refuse  # type: ignore[method-assign]
    parser.add_argument("--watch", action="store_true")
    parser.add_argument("--every", type=int)
    parser.add_argument("--out")
    return parser


def _refuse(message: str) -> Any:
    raise ValueError(f"%%whygrad [--watch] [--every N] [--out DIR]: {message}")
