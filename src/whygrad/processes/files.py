"""What each process leaves in the folder of its run: a report that is quickly read, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from whygrad import strangers
from whygrad.model import Process, Recording, Run
from whygrad.model.believing import believed
from whygrad.model.source import Texts, reading
from whygrad.reporters import json_report
from whygrad.reporters.places import below
from whygrad.running.concluding import conclude
from whygrad.storage.directory import write_atomically
from whygrad.storage.files import NotARun, read_evidence

_UNREADABLE = (NotARun, OSError, ValueError, KeyError, TypeError, AttributeError)


class Files:
    """The two files of one process."""

    def __init__(self, folder: Path, process: Process, source: bool) -> None:
        self._folder, self._source = folder, source
        self._name = f"{process.host}-{process.pid}"

    def write(self, run: Run, recording: Recording | None = None) -> None:
        """The evidence first: where a report is seen, it is there."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if recording is not None:
            from whygrad.storage.packing import pack

            write_atomically(self._folder / f"{self._name}.wg", pack(recording, below, self._source))
        write_atomically(self._folder / f"{self._name}.json", json_report.render(run))


def plain(run: Run) -> Run:
    """As its report says it: files have the names there that they have in the reports of all processes."""
    return json_report.parse(json_report.render(run))


def judged(folder: Path) -> Iterator[Run]:
    """All processes below a folder, by the rules of today where there is evidence of them."""
    for file in sorted(folder.rglob("*.json")):
        evidence = file.with_suffix(".wg")
        try:
            yield _judged(read_evidence(evidence)) if evidence.is_file() else _parsed(file)
        except _UNREADABLE:
            continue


def _judged(recording: Recording) -> Run:
    texts = {strangers.text(name): strangers.text(text) for name, text in recording.sources.items()}
    with reading(Texts(texts)):
        run = believed(conclude(recording.observed, recording.about))
    process = recording.about.process
    if process is None:
        raise ValueError("it is not of one process among others")
    return plain(replace(run, processes=(process,)))


def _parsed(file: Path) -> Run:
    run = json_report.parse(strangers.content(file))
    if len(run.processes) != 1:
        raise ValueError("it is not of one process")
    return run


def reports(folder: Path) -> Iterator[Run]:
    """The reports of all processes below a folder; what cannot be read is passed over."""
    for file in sorted(folder.rglob("*.json")):
        try:
            yield _parsed(file)
        except _UNREADABLE:
            continue
