"""From a finding and the source text to changes that may cure it: pure functions, one file per topic."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.fixing import edits
from whygrad.fixing.case import Candidate, Case, new_line
from whygrad.fixing.proposals import (
    clearing,
    failing,
    figures,
    handing,
    independent,
    losses,
    membership,
    paths,
    pollution,
    rates,
    shapes,
    stepping,
    syncs,
    targets,
    values,
)
from whygrad.fixing.proposals.table import CURES, MOST, Cure
from whygrad.fixing.source import Source

__all__ = [
    "CURES",
    "clearing",
    "failing",
    "figures",
    "handing",
    "independent",
    "losses",
    "membership",
    "paths",
    "pollution",
    "propose",
    "rates",
    "shapes",
    "stepping",
    "syncs",
    "targets",
    "values",
]


def propose(case: Case) -> Iterator[Candidate]:
    """The changes to try, the likeliest first, none of them twice."""
    seen = set()
    if case.finding.site is None or case.source is None:
        return
    for cure in CURES.get(case.finding.rule, ()):
        for candidate in _guarded(cure, case):
            for one in (candidate, *_without_its_cover(case, candidate)):
                key = tuple(sorted(one.files.items()))
                if key not in seen:
                    seen.add(key)
                    yield one
            if len(seen) >= MOST:
                return


def _guarded(cure: Cure, case: Case) -> Iterator[Candidate]:
    """Source text may have any form: a function that fails on one proposes nothing more."""
    found = cure(case)
    while True:
        try:
            candidate = next(found)
        except Exception:  # the end, too
            return
        yield candidate


def _without_its_cover(case: Case, candidate: Candidate) -> Iterator[Candidate]:
    """The same, and without the line that hid the cut: that one may break as soon as nothing is cut."""
    for other in case.run.findings:
        site = other.site
        if other.rule != "fake-root" or case.finding.rule == "fake-root" or site is None:
            continue
        old, new = case.read(site.file), candidate.files.get(site.file)
        if old is None or not {*other.subjects} & {*case.finding.subjects}:
            continue
        source = Source(site.file, new) if new is not None else old
        line = new_line(old.data, source.data, site.line)
        stmt = source.statement(line) if line else None
        if stmt is not None:
            data = source.changed(edits.without(source, stmt))
            what = f"{candidate.what}, and line {site.line} with it"
            yield Candidate(what, {**candidate.files, site.file: data})
