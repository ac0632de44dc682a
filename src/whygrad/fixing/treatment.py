"""The whole of ``whygrad fix``: check, cure, tell; and write, if that is asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from whygrad.fixing.curing import Attempt, Cure, Curing, Patient
from whygrad.fixing.diffs import unified
from whygrad.fixing.proof import Lines, loud
from whygrad.fixing.trained import trained
from whygrad.fixing.trying import Tried
from whygrad.model import Run
from whygrad.model.fix import Fixed, Treated
from whygrad.model.patch import Patch
from whygrad.running.program import Program
from whygrad.running.sentences import failed_ourselves, made_updates


class Unsafe(Exception):
    """A file is not what it was when it was tried; the message names it."""


class Treatment:
    """One program, from its first check to the files."""

    def __init__(
        self,
        program: Program,
        base: Path,
        trial: Callable[[Mapping[str, bytes]], Tried],
        tell: Callable[[str], None] = lambda text: None,
        every: bool = True,
        longer: Callable[[Mapping[str, bytes]], Tried] | None = None,
    ) -> None:
        self._program, self._base, self._tell, self._every = program, base, tell, every
        self._trial, self._longer = trial, longer
        self._runs = 0
        self.first = Tried(None)  # the run of the program as it is
        self.patient: Patient | None = None
        self.told = Treated(program.label, program.args)

    def run(self) -> Treated:
        """Check it, and cure what can be cured."""
        started = time.perf_counter()
        self._tell(f"checking {self._program.label}")
        self.first = self._counted({})
        if self.first.run is not None and not loud(self.first.run) and self._longer is not None:
            self._tell("nothing found in a few updates, looking for longer")
            self._trial = self._longer
            self.first = self._counted({})
        if self.first.run is None:
            trouble = self.first.output.strip().splitlines()[-1:] or ["nothing was written"]
            self.told = replace(self.told, exit_code=2, trouble=trouble[0], runs=self._runs)
            return self.told
        patient = self.patient = Patient(self._base, self.first.run)
        curing = Curing(
            patient, self._counted, self._tell, self._every, self._longer and self._counted_longer
        )
        fixes = tuple(_fixed(cure, curing) for cure in curing.run())
        self.told = replace(
            self.told,
            fixes=fixes,
            diff=unified(patient.first, patient.files) if patient.files else "",
            files=tuple(sorted(patient.files)),
            exit_code=exit_code(self.first.run),
            before=str(self.first.run.verdict),
            verdict=str(patient.run.verdict),
            runs=self._runs,
            seconds=time.perf_counter() - started,
        )
        return self.told

    def _counted_longer(self, files: Mapping[str, bytes]) -> Tried:
        assert self._longer is not None
        self._runs += 1
        return self._longer(files)

    def _counted(self, files: Mapping[str, bytes]) -> Tried:
        self._runs += 1
        return self._trial(files)

    def apply(self) -> Treated:
        """Write the files; all of them, or none where one has changed since it was read."""
        patient = self.patient
        assert patient is not None
        places = {name: Path(os.path.realpath(self._base / name)) for name in patient.files}
        for name, place in places.items():
            if place.read_bytes() != patient.first[name]:
                raise Unsafe(f"{name} has changed since it was tried; run whygrad fix again")
        for name, place in places.items():
            _replace(place, patient.files[name])
        self.told = replace(self.told, applied=True, exit_code=exit_code(patient.run))
        return self.told


def _replace(place: Path, data: bytes) -> None:
    """The file with other bytes, whole or not at all, and with the rights that it had."""
    beside = place.with_name(f".{place.name}.whygrad")
    try:
        beside.write_bytes(data)
        beside.chmod(place.stat().st_mode)
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def exit_code(run: Run) -> int:
    """As ``whygrad check`` has it."""
    if loud(run):
        return 1
    if run.exit_code:
        return run.exit_code
    return 0 if made_updates(run) and not failed_ourselves(run) else 2


def _fixed(cure: Cure, curing: Curing) -> Fixed:
    patches = tuple(_patch(cure, attempt) for attempt in cure.proven)
    tried = tuple((a.candidate.what, "; ".join(a.proof.against)) for a in cure.failed)
    return Fixed(cure.finding, patches, tried, cure.why_not)


def _patch(cure: Cure, attempt: Attempt) -> Patch:
    before = {name: cure.texts[name] for name in attempt.candidate.files}
    lines = Lines(before, attempt.candidate.files)
    assert attempt.run is not None
    cells = tuple(trained(cure.finding, cure.before, attempt.run, lines))
    diff = unified(before, attempt.candidate.files)
    return Patch(attempt.candidate.what, diff, attempt.proof.shown, cells)
