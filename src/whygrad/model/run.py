"""A finished run: everything that a reporter may show."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from whygrad.model.choice import Ignored
from whygrad.model.drawing import Drawing
from whygrad.model.finding import Finding, Severity
from whygrad.model.frameworks import in_part
from whygrad.model.gradient_map import GradientMap, Role
from whygrad.model.history import Watched
from whygrad.model.process import Process, Raised
from whygrad.model.site import Excerpt, Site


class Verdict(StrEnum):
    """A run in a word or three."""

    HEALTHY = "healthy"  # no fault, everything was watched, and all that an optimizer holds was seen to learn
    NO_FAULT = "no fault found"  # in what was seen; something was not
    NOT_JUDGED = "not judged"
    FINDINGS = "findings"


@dataclass(frozen=True, slots=True)
class UpdateCount:
    """How often an optimizer stepped, how many of those steps were recorded, and what it trains.

    ``networks`` are those that were measured to learn, ``silent`` those of which nothing was.
    """

    optimizer: str
    count: int
    recorded: int = 0
    networks: tuple[str, ...] = ()
    loss: Site | None = None
    silent: tuple[str, ...] = ()
    made: Site | None = None  # where the optimizer was made
    others: int = 0  # optimizers of that line that are gone, and of which only the steps were kept


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that is not a finding: what was not observed, or what is right."""

    text: str
    site: Site | None = None
    kind: str = "observation"  # observation | doubt (a part was not judged) | certificate | internal


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
    blind: str = ""  # from where on nothing was judged, and why: our own failure
    processes: tuple[Process, ...] = ()  # if there were more than one
    ignored: tuple[Ignored, ...] = ()  # findings that the user does not want to hear of

    def at(self, *severities: Severity) -> tuple[Finding, ...]:
        """The findings of these severities."""
        return tuple(f for f in self.findings if f.severity in severities)

    @property
    def clean(self) -> bool:
        """No error and no warning was found."""
        return not self.at(Severity.ERROR, Severity.WARNING)

    @property
    def measured(self) -> bool:
        """Was anybody asked who learns? Where only a part is judged, that nobody was seen to says nothing."""
        return any(u.networks for u in self.updates) or not in_part(self.frameworks)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What could not be judged though something was: a healthy run has none."""
        told = [note.text for note in self.notes if note.kind == "doubt"]
        quiet = dict.fromkeys(name for u in self.updates if u.count for name in u.silent)
        unseen = [u.optimizer for u in self.updates if u.count and not u.recorded]
        return (
            *(f"{name} was not seen to learn" for name in quiet if self.measured),
            *(f"no update of {name} was recorded" for name in dict.fromkeys(unseen)),
            *told,
        )

    @property
    def verdict(self) -> Verdict:
        """What may be said of it. Health is said of what was measured, and of nothing else."""
        if not self.clean:
            return Verdict.FINDINGS
        if not any(u.recorded for u in self.updates):
            return Verdict.NOT_JUDGED
        whole = self.finished and not self.stopped_early and self.exception is None
        return Verdict.HEALTHY if whole and not self.blind and not self.doubts else Verdict.NO_FAULT

    @property
    def healthy(self) -> bool:
        """No error and no warning, and nothing was lost from sight that might be one."""
        return self.clean and not self.blind and not self.doubts
