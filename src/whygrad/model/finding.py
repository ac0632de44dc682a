"""What whygrad says: one finding per cause."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the chain from parameter to loss."""

    what: str
    site: Site | None = None
    cut: bool = False


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
