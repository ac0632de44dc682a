"""A finished run: everything that a reporter may show."""

from __future__ import annotations

from dataclasses import dataclass, field

from whygrad.model.drawing import Drawing
from whygrad.model.finding import Finding, Severity
from whygrad.model.gradient_map import GradientMap, Role
from whygrad.model.history import Watched
from whygrad.model.site import Excerpt, Site


@dataclass(frozen=True, slots=True)
class UpdateCount:
    """How often an optimizer stepped, how many of those steps were recorded, and what it trains."""

    optimizer: str
    count: int
    recorded: int = 0
    networks: tuple[str, ...] = ()
    loss: Site | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended the script."""

    type: str
    message: str
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that is not a finding: what was not observed, or what is right."""

    text: str
    site: Site | None = None
    kind: str = "observation"  # observation | certificate | internal


@dataclass(frozen=True, slots=True)
class Run:
    """What happened and what was found."""

    script: str
    argv: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    exit_code: int = 0
    exception: Raised | None = None
    updates: tuple[UpdateCount, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    gradient_map: tuple[GradientMap, ...] = ()
    roles: tuple[Role, ...] = ()
    seconds: float = 0.0
    stopped_early: bool = False
    watched: Watched | None = None
    drawing: Drawing = field(default_factory=Drawing)
    sources: tuple[Excerpt, ...] = ()
    finished: bool = True  # false: written while the script was still running
    started: str = ""  # ISO 8601, local time with its offset
    pid: int = 0
    host: str = ""

    def at(self, *severities: Severity) -> tuple[Finding, ...]:
        """The findings of these severities."""
        return tuple(f for f in self.findings if f.severity in severities)

    @property
    def healthy(self) -> bool:
        """No error and no warning."""
        return not self.at(Severity.ERROR, Severity.WARNING)
