"""Runs on disk: their report, their series, their histograms, as far as they are there."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from pathlib import Path

from whygrad.model import Run, Series
from whygrad.reporters import json_report
from whygrad.running.summaries import HISTORY
from whygrad.watch import histograms as pictures
from whygrad.watch import history, reading

REPORT = "report.json"


class NotARun(Exception):
    """One sentence that says why a folder cannot be read as a run."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A run directory that was read."""

    folder: Path
    run: Run

    def series(self) -> tuple[Series, ...]:
        """The summaries over time; of a run that was killed, as far as they were written."""
        try:
            return history.load(self.folder / HISTORY)
        except (OSError, ValueError, KeyError, TypeError):
            return _from_events(self.folder)

    def histograms(self) -> list[pictures.Pictured]:
        """The histograms over time."""
        return [p for file in _event_files(self.folder) for p in pictures.read(file)]


def read(name: str | None) -> Stored:
    """The run in this folder, or the newest one below ``runs``."""
    folder = Path(name) if name else newest()
    if folder.name == REPORT:
        folder = folder.parent
    if not folder.is_dir():
        raise NotARun(f"there is no folder {folder}; whygrad runs lists the runs")
    file = folder / REPORT
    if not file.is_file():
        if not _event_files(folder):
            raise NotARun(f"{folder} is no run of whygrad: there is no {REPORT} in it")
        return Stored(folder, Run(script=folder.name))  # killed before anything could be judged
    try:
        return Stored(folder, json_report.parse(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotARun(f"{file} cannot be read: {error}") from error


def newest() -> Path:
    """The run below ``runs`` that ended last."""
    found = sorted(Path("runs").glob(f"*/{REPORT}"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise NotARun("there is no run below runs/; name the run directory")
    return found[-1].parent


def _event_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("events.out.tfevents.*.whygrad"))


def _from_events(folder: Path) -> tuple[Series, ...]:
    """The numbers of the event files themselves."""
    curves: dict[str, reading.Curve] = {}
    for file in _event_files(folder):
        reading.read(file, curves)
    return tuple(_series(curve) for curve in curves.values() if not curve.histogram)


def _series(curve: reading.Curve) -> Series:
    """``actor.0.weight/gradients/norm``: the variable, and what of it."""
    values = array("f", (v if math.isfinite(v) else math.nan for v in curve.values))
    for group in ("gradients", "variable", "update"):
        variable, found, rest = curve.tag.rpartition(f"/{group}/")
        if found:
            return Series("", variable, f"{group}/{rest}", tuple(curve.steps), values, values, values)
    optimizer, _, quantity = curve.tag.rpartition("/")
    return Series(optimizer, "", quantity, tuple(curve.steps), values, values, values)
