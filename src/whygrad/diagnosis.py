"""Evidence in, findings out."""

from __future__ import annotations

from whygrad.model import Evidence, Finding, Severity
from whygrad.rules.attribution import causes
from whygrad.rules.table import RULES

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


def diagnose(evidence: Evidence) -> tuple[Finding, ...]:
    """What is wrong, the gravest first; one finding per cause."""
    findings = [RULES[cause.rule].phrase(cause) for cause in causes(evidence)]
    return tuple(sorted(findings, key=lambda f: _ORDER.index(f.severity)))
