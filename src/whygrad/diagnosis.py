"""Evidence in, findings out; and for people who want to see more, who trains whom and what is right."""

from __future__ import annotations

from dataclasses import dataclass, field

from whygrad.flow.gradient_map import gradient_maps
from whygrad.model import Drawing, Evidence, Finding, GradientMap, Note, Role, Severity
from whygrad.rules.attribution import causes
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.certificates import certificates
from whygrad.rules.drawing import drawing
from whygrad.rules.roles import roles
from whygrad.rules.table import RULES

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Picture:
    """What can be said of a run beside its faults."""

    gradient_map: tuple[GradientMap, ...] = ()
    roles: tuple[Role, ...] = ()
    certificates: tuple[Note, ...] = ()
    drawing: Drawing = field(default_factory=Drawing)


def diagnose(evidence: Evidence) -> tuple[Finding, ...]:
    """What is wrong, the gravest first; one finding per cause."""
    findings = [RULES[cause.rule].phrase(cause) for cause in causes(evidence)]
    return tuple(sorted(findings, key=lambda f: _ORDER.index(f.severity)))


def picture(evidence: Evidence, healthy: bool) -> Picture:
    """Who trains whom, what each network is; and what is right, if nothing is wrong."""
    situation = Situation(evidence)
    right = certificates(situation) if healthy else ()
    return Picture(gradient_maps(evidence), roles(situation), right, drawing(evidence))
