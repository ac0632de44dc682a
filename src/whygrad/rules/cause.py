"""Why a parameter suffers: what judging hands to the rule that puts it into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Confidence, Parameter, Severity, Site, Step
from whygrad.rules.dialects import TORCH, Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause, found; its rule turns it into a ``Finding``.

    Every rule has a class of its own, with what its sentences need as typed fields: see the rules' files.
    All fields have defaults: judging may know little, and the sentence must still be one.
    """

    rule: ClassVar[str]
    seen: ClassVar[bool] = False  # it rests on what was seen alone, not on what never came: a step, a copy
    by_network: ClassVar[bool] = False  # spoken of by networks, also where only parts of one suffer

    site: Site | None = None
    subjects: tuple[Parameter, ...] = ()
    chain: tuple[Step, ...] = ()
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.CERTAIN
    optimizer: str = ""
    loss: Site | None = None
    masked: bool = False  # the parameters still get some gradient from another term of the loss
    first_update: int = 0
    updates: int = 0
    whole: frozenset[str] = frozenset()  # the networks of which every parameter suffers
    dialect: Dialect = TORCH
