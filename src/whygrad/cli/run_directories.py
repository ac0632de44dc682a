"""Runs on disk: their report, their series, their histograms, as far as they are there."""

from __future__ import annotations

import math
import os
from array import array
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from whygrad import strangers
from whygrad.frameworks.registry import brief
from whygrad.model import Recording, Run, Series
from whygrad.model.believing import believed
from whygrad.model.source import Texts, reading
from whygrad.processes import files as processes
from whygrad.processes.combining import combine
from whygrad.processes.files import plain
from whygrad.reporters import fixes, json_report
from whygrad.running.concluding import conclude
from whygrad.storage.directory import EVIDENCE, FIXES, HISTORY, PROCESSES, REPORT
from whygrad.storage.files import NotARun, evidence_in, read_evidence
from whygrad.summaries import histograms as pictures
from whygrad.summaries import history
from whygrad.summaries import reading as events


@dataclass(frozen=True, slots=True)
class Stored:
    """A run directory that was read."""

    folder: Path
    run: Run
    texts: Texts = field(default_factory=lambda: Texts({}))  # the source that it ran, if it was kept

    def reading(self) -> AbstractContextManager[None]:
        """Inside, reporters quote the source that ran, and never a file that the run only names."""
        return reading(self.texts)

    def series(self) -> tuple[Series, ...]:
        """The summaries over time; of a run that was killed, as far as they were written."""
        try:
            return history.load(self.folder / HISTORY)
        except (OSError, ValueError, LookupError, TypeError):
            return _from_events(self.folder)

    def histograms(self) -> list[pictures.Pictured]:
        """The histograms over time."""
        return [p for file in _event_files(self.folder) for p in pictures.read(file)]


def read(name: str | None) -> Stored:
    """The run in this folder, or the newest one below ``runs``.

    What is known best comes first: evidence that has its source text, judged with the rules of today; the
    report that was written then; evidence without source text; event files. A file of another name is
    read, or refused.
    """
    folder, evidence = _found(name)
    report = folder / REPORT
    if evidence is not None:
        try:
            recording = read_evidence(evidence)
            if recording.sources or not report.is_file():
                return _judged(folder, evidence, recording)
        except NotARun:  # of a newer version, for instance
            if evidence.name != EVIDENCE or not report.is_file():
                raise
    if not os.path.lexists(report):
        if not _event_files(folder):
            raise NotARun(f"{folder} is no run of whygrad: there is no {EVIDENCE} and no {REPORT} in it")
        return Stored(folder, Run(script=folder.name))  # killed before anything could be judged
    try:
        return _fixed(Stored(folder, json_report.parse(strangers.content(report))))
    except (OSError, ValueError) as error:
        raise NotARun(f"{strangers.line(report)} cannot be read: {_why(error)}") from error


def judged(name: str | None) -> Stored:
    """The evidence in this folder, or in this file, judged with the rules of today."""
    folder, evidence = _found(name)
    if evidence is None and (folder / PROCESSES).is_dir() and (folder / REPORT).is_file():
        return Stored(folder, _anew(folder))
    if evidence is None:
        raise NotARun(f"there is no {EVIDENCE} in {folder}: nothing was recorded that can be judged again")
    return _judged(folder, evidence, read_evidence(evidence))


def newest() -> Path:
    """The run below ``runs`` that ended last."""
    runs = [file for name in (REPORT, EVIDENCE) for file in Path("runs").glob(f"*/{name}")]
    if not runs:
        raise NotARun("there is no run below runs/; name the run directory")
    return max(runs, key=lambda file: file.stat().st_mtime).parent


def folder_of(name: str | None) -> Path:
    """The folder of the run that is named so, or of the newest one."""
    return _found(name)[0]


def _found(name: str | None) -> tuple[Path, Path | None]:
    """A run directory, and the evidence in it; or what was named itself, if it is a file."""
    path = Path(name) if name else newest()
    if path.name == REPORT:
        path = path.parent
    if path.is_dir():
        return path, evidence_in(path)
    if not os.path.lexists(path):
        raise NotARun(f"there is no folder {strangers.line(path)}; whygrad runs lists the runs")
    return path.parent, path


def _judged(folder: Path, file: Path | None, recording: Recording) -> Stored:
    texts = Texts({strangers.text(name): strangers.text(text) for name, text in recording.sources.items()})
    try:
        with reading(texts):
            run = believed(conclude(recording.observed, recording.about, strict=True))
    except Exception as error:  # a file may say anything
        why = strangers.line(brief(error))
        raise NotARun(f"{strangers.line(file)} cannot be judged: {why}") from error
    if (folder / PROCESSES).is_dir() and (file is None or file.name == EVIDENCE):
        run = combine(plain(run), list(processes.judged(folder / PROCESSES)))
    return _fixed(Stored(folder, run, texts))


def _anew(folder: Path) -> Run:
    """A run that a launcher has started: all that is known of it was seen by its processes."""
    told = json_report.parse(strangers.content(folder / REPORT))
    alone = Run(told.script, told.argv, exit_code=told.exit_code, seconds=told.seconds, started=told.started)
    return combine(alone, list(processes.judged(folder / PROCESSES)))


def _fixed(stored: Stored) -> Stored:
    """With the changes that ``whygrad fix`` has proven, if it made this run."""
    try:
        told = strangers.content(stored.folder / FIXES)
        return replace(stored, run=fixes.patched(stored.run, told))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return stored  # there are none


def _event_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("events.out.tfevents.*.whygrad"))


def _why(error: Exception) -> str:
    """One line; of an error of the system without its number."""
    told = error.strerror if isinstance(error, OSError) and error.strerror else error
    return strangers.line(told)


def _from_events(folder: Path) -> tuple[Series, ...]:
    """The numbers of the event files themselves."""
    curves: dict[str, events.Curve] = {}
    for file in _event_files(folder):
        events.read(file, curves)
    return tuple(_series(curve) for curve in curves.values() if not curve.histogram)


def _series(curve: events.Curve) -> Series:
    """``actor.0.weight/gradients/norm``: the variable, and what of it."""
    values = array("f", (v if math.isfinite(v) else math.nan for v in curve.values))
    for group in ("gradients", "variable", "update"):
        variable, found, rest = curve.tag.rpartition(f"/{group}/")
        if found:
            return Series("", variable, f"{group}/{rest}", tuple(curve.steps), values, values, values)
    optimizer, _, quantity = curve.tag.rpartition("/")
    return Series(optimizer, "", quantity, tuple(curve.steps), values, values, values)
