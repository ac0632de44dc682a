"""A run into its directory: the report, for people and programs, and the evidence, to be judged again."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import PathFinder

from whygrad.model import Recording, Run
from whygrad.reporters import json_report
from whygrad.reporters.places import below
from whygrad.storage.directory import EVIDENCE, REPORT, RunDirectory

_LIBRARY = "msgspec"


def prepare(folder: str = "") -> None:
    """Load what writing needs, before a module of the program's folder can stand in its place.

    And stand in the place of none: a program that has a module of that name gets its own.
    """
    theirs = {folder, os.getcwd()} if folder else set()
    path = list(sys.path)
    sys.path[:] = [part for part in path if os.path.abspath(part) not in theirs]
    try:
        importlib.import_module("whygrad.storage.packing")
    except ImportError:
        pass  # that there is no evidence is said at the end
    finally:
        sys.path[:] = path
    if folder and PathFinder.find_spec(_LIBRARY, [folder]) is not None:
        for name in [n for n in sys.modules if n.partition(".")[0] == _LIBRARY]:
            del sys.modules[name]


def keep(directory: RunDirectory, run: Run, recording: Recording | None, source: bool = True) -> None:
    """Both files, the evidence first: where a report is seen, it is there. Raises what goes wrong."""
    try:
        keep_evidence(directory, recording, source)
    finally:
        keep_report(directory, run)


def keep_report(directory: RunDirectory, run: Run) -> None:
    """The report alone."""
    directory.write(REPORT, json_report.render(run))


def keep_evidence(directory: RunDirectory, recording: Recording | None, source: bool = True) -> None:
    """The evidence alone. Without one, or if it cannot be written, none of an earlier run is left there."""
    if recording is None:
        directory.remove(EVIDENCE)
        return
    try:
        from whygrad.storage.packing import pack

        directory.write(EVIDENCE, pack(recording, below, source))
    except BaseException:
        directory.remove(EVIDENCE)
        raise
