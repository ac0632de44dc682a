"""A change of the user's source that has proven itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trained:
    """One cell of who-trains-whom that a change has changed: the term, the network, before and after."""

    term: str
    line: int
    network: str
    before: str  # "100 %", "·" for a gradient that no step uses, "-" for none
    after: str


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of the user's source that has proven itself."""

    what: str
    diff: str
    shown: tuple[str, ...] = ()  # what the run of the changed copy has shown
    trained: tuple[Trained, ...] = ()
