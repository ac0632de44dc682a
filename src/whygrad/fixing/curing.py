"""Findings cured one after the other: what has proven itself is kept, until healthy or stuck."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proof import Lines, Outcome, Proof, loud, prove, same
from whygrad.fixing.proposals import propose
from whygrad.fixing.source import Source, Unreadable
from whygrad.fixing.trying import Tried
from whygrad.frameworks.shared.frames import USER, Told, kind_of
from whygrad.model import Finding, Run

_DEEP = 2  # findings that may come to light behind one another before a change counts as failed
_WIDE = 2  # changes that are followed up when they bring something to light
_ROUNDS = 12  # findings of one program

Try = Callable[[Mapping[str, bytes]], Tried]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A change, how it went, and the run that showed it."""

    candidate: Candidate
    proof: Proof
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Cure:
    """What was done about one finding: the proven changes, the smallest first, or what was tried in vain."""

    finding: Finding
    before: Run
    texts: Mapping[str, bytes] = field(default_factory=dict)  # the files as they were before it
    proven: tuple[Attempt, ...] = ()
    failed: tuple[Attempt, ...] = ()
    why_not: str = ""  # why nothing was tried

    @property
    def cured(self) -> bool:
        """Is there a change that has proven itself?"""
        return bool(self.proven)


@dataclass
class Patient:
    """The program as it is now: its files, and its last run."""

    base: Path
    run: Run
    first: dict[str, bytes] = field(default_factory=dict)  # the files as they were found
    files: dict[str, bytes] = field(default_factory=dict)  # those that are changed, as they are now
    _read: dict[tuple[str, bytes], Source | None] = field(default_factory=dict)

    def text(self, name: str) -> bytes | None:
        """A file of the user's; nothing for a library's, or one that is not there."""
        path = os.path.join(self.base, name)
        if kind_of(Told(os.path.realpath(path), "")) != USER:
            return None
        if name not in self.first:
            try:
                self.first[name] = Path(path).read_bytes()
            except OSError:
                return None
        return self.files.get(name, self.first[name])

    def source(self, name: str) -> Source | None:
        """Its syntax."""
        data = self.text(name)
        if data is None:
            return None
        if (name, data) not in self._read:  # reading 1,000 lines takes a third of a second
            try:
                self._read[name, data] = Source(name, data)
            except Unreadable:
                self._read[name, data] = None
        return self._read[name, data]


class Curing:
    """Cures a program. ``trial`` runs it with changed files, ``tell`` says how far it is."""

    def __init__(
        self,
        patient: Patient,
        trial: Try,
        tell: Tell = lambda text: None,
        every: bool = True,
        longer: Try | None = None,
    ) -> None:
        self.patient, self._trial, self._tell = patient, trial, tell
        self._longer = longer  # more updates, for what a few cannot show
        self._every = every  # try all changes, also when one has proven itself
        self.cures: list[Cure] = []

    def run(self) -> list[Cure]:
        """All findings, until healthy or stuck."""
        stuck: list[Finding] = []
        for _ in range(_ROUNDS):
            finding = self._next(stuck)
            if finding is None:
                break
            cure = self.cure(finding)
            self.cures.append(cure)
            if cure.proven:
                stuck = self._accept(cure.proven[0], stuck)
            else:
                stuck.append(finding)
        return self.cures

    def _next(self, stuck: list[Finding]) -> Finding | None:
        here = Lines({}, {})
        left = (f for f in loud(self.patient.run) if not any(same(s, f, here) for s in stuck))
        return next(left, None)

    def _accept(self, attempt: Attempt, stuck: list[Finding]) -> list[Finding]:
        """The program is now the changed one; what was stuck is known by where its line is now."""
        lines = self._lines(attempt.candidate)
        self.patient.files.update(attempt.candidate.files)
        assert attempt.run is not None
        self.patient.run = attempt.run
        return [f for f in loud(attempt.run) if any(same(s, f, lines) for s in stuck)]

    def _lines(self, candidate: Candidate) -> Lines:
        texts = {name: self.patient.text(name) or b"" for name in candidate.files}
        return Lines(texts, candidate.files)

    def cure(self, finding: Finding) -> Cure:
        """Try what may cure this finding."""
        before = self.patient.run
        if finding.site is None:
            return Cure(finding, before, why_not="it has no line")
        if self.patient.text(finding.site.file) is None:
            return Cure(finding, before, why_not=f"{finding.site.file} is not your file: it is never changed")
        candidates = list(propose(Case(finding, before, self.patient.source)))
        if not candidates:
            return Cure(finding, before, why_not="no change is known that cures this with certainty")
        attempts = self._attempts(finding, before, candidates)
        proven = [a for a in attempts if a.proof.outcome is Outcome.PROVEN]
        if not proven:
            proven = self._followed_up(finding, before, attempts)
        known = {name: self.patient.text(name) or b"" for a in proven for name in a.candidate.files}
        proven.sort(key=lambda a: a.candidate.size(known))
        failed = tuple(a for a in attempts if a.proof.outcome is not Outcome.PROVEN)
        return Cure(finding, before, known, tuple(proven), failed)

    def _attempts(self, finding: Finding, before: Run, candidates: list[Candidate]) -> list[Attempt]:
        found: list[Attempt] = []
        for number, candidate in enumerate(candidates, 1):
            self._tell(f"{finding.rule}: trying {candidate.what} ({number} of {len(candidates)})")
            found.append(self._attempt(finding, before, candidate))
            if not self._every and found[-1].proof.outcome is Outcome.PROVEN:
                break
        return found

    def _attempt(self, finding: Finding, before: Run, candidate: Candidate) -> Attempt:
        files, lines = {**self.patient.files, **candidate.files}, self._lines(candidate)
        tried = self._trial(files)
        proof = prove(finding, before, tried.run, lines)
        again = any(new.rule == finding.rule for new in proof.new)  # what goes on for a while, and ends
        if self._longer is not None and (proof.outcome is Outcome.DOUBTED or again):
            self._tell(f"{finding.rule}: looking for longer")
            tried = self._longer(files)
            proof = prove(finding, before, tried.run, lines)
        return Attempt(candidate, proof, tried.run)

    def _followed_up(
        self, finding: Finding, before: Run, attempts: list[Attempt], deep: int = _DEEP
    ) -> list[Attempt]:
        """Changes that brought another finding to light, with that one cured as well; proven as one."""
        if not deep:
            return []
        for attempt in [a for a in attempts if a.proof.outcome is Outcome.ADVANCED and a.run][:_WIDE]:
            behind = replace_run(self.patient, attempt)
            for candidate in propose(Case(attempt.proof.new[0], behind.run, behind.source)):
                whole = Candidate(
                    f"{attempt.candidate.what}, {candidate.what}",
                    {**attempt.candidate.files, **candidate.files},
                )
                self._tell(f"{finding.rule}: trying {whole.what}")
                next_one = self._attempt(finding, before, whole)
                if next_one.proof.outcome is Outcome.PROVEN:
                    return [next_one]
                if next_one.proof.outcome is Outcome.ADVANCED:
                    found = self._followed_up(finding, before, [next_one], deep - 1)
                    if found:
                        return found
        return []


def replace_run(patient: Patient, attempt: Attempt) -> Patient:
    """The program as an attempt leaves it."""
    assert attempt.run is not None
    return replace(patient, run=attempt.run, files={**patient.files, **attempt.candidate.files})
