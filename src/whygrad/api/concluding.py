"""From what the backends saw to a finished ``Run``."""

from __future__ import annotations

import sys

from whygrad.backends.protocol import Observation
from whygrad.backends.registry import Registry, brief
from whygrad.diagnosis import diagnose
from whygrad.model import Finding, Note, Raised, Run


def conclude(
    registry: Registry, script: str, raised: Raised | None, seconds: float, notes: tuple[Note, ...]
) -> Run:
    """Everything that was seen so far, judged."""
    observed = registry.observe()
    findings: list[Finding] = []
    trouble: list[Note] = []
    for name, observation in observed.items():
        try:
            findings += diagnose(observation.evidence)
        except Exception as error:
            text = f"whygrad could not judge what {name} did: {brief(error)}"
            trouble.append(Note(text, kind="internal"))
    seen = [note for observation in observed.values() for note in observation.notes]
    return Run(
        script=script,
        frameworks=tuple(registry.seen),
        versions=(("python", sys.version.split()[0]), *(_version(n, o) for n, o in observed.items())),
        exit_code=int(raised is not None),
        exception=raised,
        updates=tuple(u for o in observed.values() for u in o.updates),
        findings=tuple(findings),
        notes=(*notes, *registry.notes, *seen, *trouble),
        seconds=seconds,
    )


def _version(name: str, observation: Observation) -> tuple[str, str]:
    return name, observation.version
