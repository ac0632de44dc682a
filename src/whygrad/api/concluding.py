"""From what the backends saw to a finished ``Run``."""

from __future__ import annotations

import sys

from whygrad.backends.protocol import Observation
from whygrad.backends.registry import Registry
from whygrad.model import Note, Raised, Run
from whygrad.running.judging import judged, pictured


def conclude(
    registry: Registry, script: str, raised: Raised | None, seconds: float, notes: tuple[Note, ...]
) -> Run:
    """Everything that was seen so far, judged."""
    observed = registry.observe()
    findings, trouble = judged(observed)
    picture = pictured(observed, findings)
    seen = [note for observation in observed.values() for note in observation.notes]
    return Run(
        script=script,
        frameworks=tuple(registry.seen),
        versions=(("python", sys.version.split()[0]), *(_version(n, o) for n, o in observed.items())),
        exit_code=int(raised is not None),
        exception=raised,
        updates=tuple(u for o in observed.values() for u in o.updates),
        findings=findings,
        notes=(*notes, *registry.notes, *seen, *trouble, *picture.certificates),
        gradient_map=picture.gradient_map,
        roles=picture.roles,
        seconds=seconds,
    )


def _version(name: str, observation: Observation) -> tuple[str, str]:
    return name, observation.version
