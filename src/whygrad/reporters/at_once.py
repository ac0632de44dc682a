"""A finding in one line, for the moment at which it is found: the page about it comes at the end."""

from __future__ import annotations

from whygrad.model import Confidence, Finding
from whygrad.reporters.places import label


def line(finding: Finding) -> str:
    """Where, which rule, and the sentence; editors jump to a line in this form."""
    where = f"{label(finding.site)}: " if finding.site else ""
    doubt = "" if finding.confidence is Confidence.CERTAIN else f" ({finding.confidence}, not certain)"
    return f"whygrad: {where}{finding.severity}[{finding.rule}]: {' '.join(finding.title.split())}{doubt}"
