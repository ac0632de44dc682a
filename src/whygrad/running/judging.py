"""What the backends saw, judged; a failure of ours becomes a note."""

from __future__ import annotations

from collections.abc import Mapping

from whygrad.backends.protocol import Observation
from whygrad.backends.registry import brief
from whygrad.diagnosis import diagnose
from whygrad.model import Finding, Note


def judged(observed: Mapping[str, Observation]) -> tuple[tuple[Finding, ...], tuple[Note, ...]]:
    """The findings of every framework, and what went wrong on our side."""
    findings: list[Finding] = []
    trouble: list[Note] = []
    for name, observation in observed.items():
        try:
            findings += diagnose(observation.evidence)
        except Exception as error:
            text = f"whygrad could not judge what {name} did: {brief(error)}"
            trouble.append(Note(text, kind="internal"))
    return tuple(findings), tuple(trouble)
