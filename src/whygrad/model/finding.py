"""What whygrad says: one finding per cause."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.model.patch import Patch
from whygrad.model.site import Site


class Severity(StrEnum):
    """How bad it is. A healthy script has no error and no warning."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Confidence(StrEnum):
    """How sure we are: measured, inferred, or one explanation among others."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Mark(StrEnum):
    """What there is to see at a step of a chain, in the words that stand beside it."""

    NONE = ""
    CUT = "cut here"  # gradient does not come back beyond this
    LEAK = "leaks here"  # gradient goes on where it should end
    FLAT = "zero here"  # gradient comes back as exact zeros
    CANCELS = "cancels here"  # gradient comes back on two ways that take each other away
    LOST = "lost here"  # gradient has come all the way, and no step uses it
    GAP = "no path here"  # nothing leads from one side to the other, and nothing was cut
    WIDE = "broadcasts here"
    BROKEN = "breaks here"  # the first value that is not finite, or the call that fails
    HERE = "here"  # the line to change, where none of the others is true


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the chain from parameter to loss."""

    what: str
    site: Site | None = None
    mark: Mark = Mark.NONE

    @classmethod
    def at(cls, site: Site | None, otherwise: str, mark: Mark = Mark.NONE) -> Step:
        """The step that a line is, in its own words; in others where it could not be read."""
        return cls(site.code if site is not None and site.code else otherwise, site, mark)

    @property
    def cut(self) -> bool:
        """Does the way of the gradient end here?"""
        return self.mark in (Mark.CUT, Mark.GAP)


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, the parameters that suffer from it, the line, and what to write instead."""

    rule: str
    title: str
    site: Site | None
    fix: str
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.CERTAIN
    network: str = ""
    subjects: tuple[str, ...] = ()
    chain: tuple[Step, ...] = ()
    why: str = ""
    avoid: str = ""
    optimizer: str = ""
    first_update: int = 0
    updates: int = 0
    ranks: str = ""  # of many processes, those in which it was found: "all 8 ranks"
    patch: Patch | None = None  # the fix, where `whygrad fix` has proven one; else it was not tried
