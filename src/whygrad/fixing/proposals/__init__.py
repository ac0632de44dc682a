"""From a finding and the source text to changes that may cure it: pure functions, one file per topic."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals import (
    clearing,
    failing,
    figures,
    independent,
    losses,
    membership,
    paths,
    shapes,
    stepping,
    syncs,
    targets,
    values,
)
from whygrad.fixing.proposals.table import CURES, MOST

__all__ = [
    "CURES",
    "clearing",
    "failing",
    "figures",
    "independent",
    "losses",
    "membership",
    "paths",
    "propose",
    "shapes",
    "stepping",
    "syncs",
    "targets",
    "values",
]


def propose(case: Case) -> Iterator[Candidate]:
    """The changes to try, the likeliest first, none of them twice."""
    seen = set()
    for cure in CURES.get(case.finding.rule, ()):
        if case.finding.site is None or case.source is None:
            return
        for candidate in cure(case):
            key = tuple(sorted(candidate.files.items()))
            if key not in seen:
                seen.add(key)
                yield candidate
            if len(seen) >= MOST:
                return
