"""What the backends saw, judged; a failure of ours becomes a note."""

from __future__ import annotations

from collections.abc import Mapping

from whygrad.backends.protocol import Observation
from whygrad.backends.registry import brief
from whygrad.diagnosis import Picture, diagnose, picture
from whygrad.model import Drawing, Finding, Note, Severity


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


def pictured(observed: Mapping[str, Observation], findings: tuple[Finding, ...]) -> Picture:
    """Who trains whom and what is right, over all frameworks; a failure of ours leaves its part empty."""
    healthy = all(f.severity is Severity.NOTE for f in findings)
    parts: list[Picture] = []
    for observation in observed.values():
        try:
            parts.append(picture(observation.evidence, healthy))
        except Exception as error:
            parts.append(Picture(certificates=(Note(f"no gradient map: {brief(error)}", kind="internal"),)))
    return Picture(
        tuple(m for p in parts for m in p.gradient_map),
        tuple(r for p in parts for r in p.roles),
        tuple(n for p in parts for n in p.certificates),
        next((p.drawing for p in parts if p.drawing.losses), Drawing()),
    )
