"""Does a change cure? Two runs, compared: before and after it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from whygrad.model import Finding, Run, Severity
from whygrad.rules.table import RULES

_LOUD = (Severity.ERROR, Severity.WARNING)
#: What suffers here is trained and should not be: it need not learn afterwards.
_TRAINED_TOO_MUCH = frozenset({"target-in-optimizer"})
#: A gradient that goes where it should not: a loss may reach the finding's networks less afterwards.
_REACHED_TOO_MUCH = frozenset(
    {"target-leak", "advantage-not-detached", "polluted-gradient", "cancelled-gradient", "target-unused"}
)
#: The same for networks that the finding does not name.
_REACHED_BY_OTHERS = _TRAINED_TOO_MUCH | {"wrong-variables", "target-unused"}
#: A term that is another network's by mistake: it may leave that one, as long as the loss still trains it.
_OTHER_TERMS = frozenset({"loss-independent"})
#: What suffers is a network that is gone: who has taken its place goes by another name.
_KNOWN_OTHERWISE = frozenset({"stale-closure"})


class Outcome(StrEnum):
    """What a trial has shown."""

    PROVEN = "proven"
    ADVANCED = "advanced"  # the finding is gone, and what it hid has come to light
    DOUBTED = "doubted"  # nothing speaks against it but that too little was seen
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Proof:
    """What a trial has shown, and why it is no proof if it is none."""

    outcome: Outcome
    against: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()  # what speaks for it, in whole sentences
    new: tuple[Finding, ...] = ()


class Lines:
    """Where the lines of a changed file came from."""

    def __init__(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
        self._back = {file: _back(before[file], data) for file, data in after.items() if file in before}

    def before(self, file: str, line: int) -> int:
        """The line that this one was; 0 for a new one."""
        known = self._back.get(file)
        return known.get(line, 0) if known is not None else line


def _back(before: bytes, after: bytes) -> dict[int, int]:
    old, new = before.splitlines(), after.splitlines()
    found = {}
    for tag, i, j, m, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("equal", "replace"):
            for k in range(min(j - i, n - m)):
                found[m + k + 1] = i + k + 1
    return found


def prove(finding: Finding, before: Run, after: Run | None, lines: Lines) -> Proof:
    """Is the finding gone, has no other come, do all learn that learnt, does it end no worse?"""
    if after is None:
        return Proof(Outcome.FAILED, ("the changed program could not be run",))
    against = [*_still_there(finding, after, lines), *_worse(finding, before, after)]
    against += [*_lost(finding, before, after), *_unreached(finding, before, after, lines)]
    new = tuple(_new(finding, before, after, lines))
    if against:
        return Proof(Outcome.FAILED, tuple(against), new=new)
    if new:
        told = tuple(f"then there is {f.rule}: {f.title}" for f in new)
        return Proof(Outcome.ADVANCED, told, new=new)
    against = list(_untrained(finding, before, after))
    if against:
        return Proof(Outcome.FAILED, tuple(against))
    doubts = tuple(_doubts(finding, before, after))
    if doubts:
        return Proof(Outcome.DOUBTED, doubts)
    return Proof(Outcome.PROVEN, shown=tuple(_shown(finding, before, after)))


def loud(run: Run) -> tuple[Finding, ...]:
    """What a healthy run does not have."""
    return run.at(*_LOUD)


def same(old: Finding, new: Finding, lines: Lines) -> bool:
    """Is this the finding of before, at the place that its line has now?"""
    if old.rule != new.rule or not _alike(old, new):
        return False
    if old.site is None or new.site is None:
        return old.site is new.site
    line = lines.before(new.site.file, new.site.line)
    return (new.site.file, line) == (old.site.file, old.site.line)


def _alike(old: Finding, new: Finding) -> bool:
    """Do they speak of the same parameters?"""
    return bool({*old.subjects} & {*new.subjects}) or old.network == new.network


def _still_there(finding: Finding, after: Run, lines: Lines) -> Iterator[str]:
    """The same rule on the same line."""
    for f in loud(after):
        if same(finding, f, lines):
            yield f"{f.rule} is still there: {f.title}"


def _new(finding: Finding, before: Run, after: Run, lines: Lines) -> Iterator[Finding]:
    """What was not found before; the same rule for the same parameters may have gone to another line."""
    known = [f for f in loud(before) if f is not finding]
    for f in loud(after):
        moved = any(old.rule == f.rule and _alike(old, f) for old in known)
        if not moved and not same(finding, f, lines):
            yield f


def _worse(finding: Finding, before: Run, after: Run) -> Iterator[str]:
    """How it ends: an exception that was not there, updates that are not made, sight that was lost."""
    raised = after.exception
    if raised is not None and (before.exception is None or _said(before) != _said(after)):
        place = f" ({raised.site})" if raised.site else ""
        yield f"it ends with {_said(after)}{place}"
    elif after.exit_code and after.exit_code != before.exit_code:
        yield f"it ends with exit code {after.exit_code}"
    if not any(u.recorded for u in after.updates):
        yield "no update was recorded"
    if after.blind and not before.blind:
        yield after.blind
    had, has = ({u.optimizer for u in run.updates if u.recorded} for run in (before, after))
    if len(has) < len(had) and finding.rule != "optimizer-recreated":
        yield f"{min(had - has)} makes no update any more"


def _said(run: Run) -> str:
    if run.exception is None:
        return ""
    return f"{run.exception.type}: {run.exception.message.strip().partition(chr(10))[0]}"


def _lost(finding: Finding, before: Run, after: Run) -> Iterator[str]:
    """Whoever learnt must still learn."""
    excused = {*finding.network.split(", ")} if finding.rule in _TRAINED_TOO_MUCH else set()
    if finding.rule == "wrong-variables":  # whom this optimizer trained by mistake
        excused = {n for u in before.updates if u.optimizer == finding.optimizer for n in u.networks}
    learnt = {name for u in before.updates for name in u.networks}
    learns = {name for u in after.updates for name in u.networks}
    for name in sorted(learnt - excused):
        if not _among(name, learns):
            yield f"{name} does not learn any more"


def _among(name: str, others: Iterable[str]) -> bool:
    """Itself, or what it is a part of."""
    return any(name == other or name.startswith(f"{other}.") for other in others)


def _parts(name: str, others: Iterable[str]) -> bool:
    """Are parts of it there?"""
    return any(other.startswith(f"{name}.") for other in others)


def _wholes(part: str) -> Iterator[str]:
    """What a parameter is a part of: ``net.head`` for ``net.head.weight``, and not the whole model."""
    names = part.split(".")
    return (".".join(names[:k]) for k in range(2, len(names)))


def _unreached(finding: Finding, before: Run, after: Run, lines: Lines) -> Iterator[str]:
    """Whom a loss trained, and a term of it, they must still train, unless that was the fault."""
    too_much = finding.rule in _REACHED_TOO_MUCH
    mine = {n for part in finding.subjects for n in _wholes(part)} | {*finding.network.split(", ")}
    excused = mine if too_much else set()
    if finding.rule in _REACHED_BY_OTHERS:
        return
    terms = finding.rule not in _OTHER_TERMS
    old, new = _reached(before, Lines({}, {}), terms), _reached(after, lines, terms)
    for place, networks in old.items():
        for name in sorted(networks - excused):
            if not _among(name, new.get(place, networks)) and not _parts(name, new[place]):
                yield f"{name} does not learn from the loss at line {place[1]} any more"


def _reached(run: Run, lines: Lines, terms: bool) -> dict[tuple[str, int], set[str]]:
    """The networks that each loss and each line of a term trains, by the lines before the change."""
    found: dict[tuple[str, int], set[str]] = {}
    for loss in run.gradient_map:
        for term in loss.terms:
            for site in {term.site if terms else None, loss.loss} - {None}:
                assert site is not None
                place = (site.file, lines.before(site.file, site.line))
                reached = (c.network for c in term.networks if c.reached and c.applied)
                found.setdefault(place, set()).update(reached)
    return found


def _untrained(finding: Finding, before: Run, after: Run) -> Iterator[str]:
    """Those that got nothing are seen to learn: that nobody holds them any more is no cure."""
    silent = {name for u in after.updates for name in u.silent}
    learns = {name for u in after.updates for name in u.networks}
    rule = RULES.get(finding.rule)
    missing = rule is not None and rule.page.family == "missing"
    learnt = {name for u in before.updates for name in u.networks}
    known = {name for run in (before, after) for u in run.updates for name in (*u.networks, *u.silent)}
    for name in filter(None, finding.network.split(", ")):
        nameless = name in finding.subjects and not _among(name, known)  # a tensor, or a layer of one call
        if missing and (nameless or finding.rule in _KNOWN_OTHERWISE):
            ends = before.exception is not None and after.exception is None
            if not learns - learnt and not ends and finding.rule != "not-tracked":
                yield "nobody learns that did not learn before"
            continue
        parts = any(other.startswith(f"{name}.") for other in learns)
        if (
            before.exception is not None and name[:1].isupper()
        ):  # of an object that was never finished: its class
            parts = any(other.partition(".")[2] == name.partition(".")[2] != "" for other in learns)
        if name in silent or (missing and not parts and not _among(name, learns)):
            yield f"{name} was not seen to learn"


def _doubts(finding: Finding, before: Run, after: Run) -> Iterator[str]:
    """A finding about a target that has become a doubt about it is not cured."""
    if not finding.rule.startswith("target-"):
        return
    known = {_plain(text) for text in before.doubts}
    for text in after.doubts:
        if _plain(text) not in known:
            yield text


def _plain(text: str) -> str:
    return re.sub(r"\d[\d,.]*", "#", text)


def _shown(finding: Finding, before: Run, after: Run) -> Iterator[str]:
    """What the two runs differ in, as far as the finding speaks of it."""
    yield f"{finding.rule} is gone, and nothing new has come"
    learnt = {name for u in before.updates for name in u.networks}
    learns = {name for u in after.updates for name in u.networks}
    newly = [n for n in finding.network.split(", ") if n in learns - learnt]
    if newly:
        yield f"{' and '.join(newly)} {'learns' if len(newly) == 1 else 'learn'} now"
    if before.exception is not None and after.exception is None:
        yield f"it no longer ends with {before.exception.type}"
