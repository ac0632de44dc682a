"""Which functions propose for which rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whygrad.fixing.case import Candidate, Case

Cure = Callable[[Case], Iterator[Candidate]]
CURES: dict[str, list[Cure]] = {}
MOST = 8  # candidates for one finding: each is a run of the program


def cures(*rules: str) -> Callable[[Cure], Cure]:
    """The function proposes for these rules, after those that came before it."""

    def register(cure: Cure) -> Cure:
        for rule in rules:
            CURES.setdefault(rule, []).append(cure)
        return cure

    return register
