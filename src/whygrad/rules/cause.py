"""Why a parameter suffers: what attribution hands to the rule that puts it into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whygrad.model import Confidence, Parameter, Severity, Site, Step


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause, found; a rule turns it into a ``Finding``.

    ``details`` holds the few words that the rule's sentence needs, e.g. ``{"op": ".detach()"}``; each
    rule's file says which keys it reads. ``masked`` is true when the parameters still get some gradient
    from another term of the loss.
    """

    rule: str
    site: Site | None
    subjects: tuple[Parameter, ...]
    chain: tuple[Step, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.CERTAIN
    optimizer: str = ""
    loss: Site | None = None
    masked: bool = False
    first_update: int = 0
    updates: int = 0
