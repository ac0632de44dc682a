"""Parameters that an optimizer holds and that somebody has frozen."""

from __future__ import annotations

from whygrad.flow.situation import Situation
from whygrad.flow.source import freezing_lines, is_library
from whygrad.flow.thaws import vain_thaws
from whygrad.model import Confidence, Mark, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.frozen import Frozen


def held_frozen(situation: Situation, optimizer: Optimizer, parameter: Parameter) -> Cause | None:
    """Frozen on purpose, or by accident? A layer that was trained or loaded before may rest."""
    others = [k for k in optimizer.held if situation.evidence.parameters[k].trainable]
    if others and (parameter.trained or parameter.loaded):
        return None
    known = situation.evidence.parameters
    beside = any(known[k].network == parameter.network and known[k].trained for k in others)
    if beside and _given_frozen(parameter, optimizer):
        return None
    vain = _thawed_in_vain(parameter, optimizer)
    site = vain or parameter.frozen_at or _frozen_somewhere(optimizer) or optimizer.made
    return Frozen(
        severity=Severity.WARNING if beside else Severity.ERROR,
        confidence=Confidence.LIKELY if beside else Confidence.CERTAIN,
        site=site,
        subjects=(parameter,),
        chain=(
            Step(parameter.name, parameter.made[0] if parameter.made else None),
            Step(dialect_of(situation.evidence.framework).frozen, parameter.frozen_at or site, mark=Mark.CUT),
            *((Step.at(vain, "switches nothing on", mark=Mark.HERE),) if vain else ()),
        ),
        optimizer=optimizer.name,
        in_vain=vain is not None,
    )


def _given_frozen(parameter: Parameter, optimizer: Optimizer) -> bool:
    """A library froze it and then the optimizer was made: of ``model.parameters()``, its adapters learn."""
    by_library = parameter.frozen_at is not None and is_library(parameter.frozen_at.file)
    return by_library and 0 < parameter.frozen_when < optimizer.key


def _thawed_in_vain(parameter: Parameter, optimizer: Optimizer) -> Site | None:
    """``net.encoder.requires_grad = True``: a module takes any attribute, and this one means nothing."""
    at = parameter.frozen_at or optimizer.made
    owners = parameter.name.split(".")[:-1]
    for name, line in vain_thaws(at.file) if at is not None else ():
        if at is not None and name in owners:
            return Site.read(at.file, line)
    return None


def _frozen_somewhere(optimizer: Optimizer) -> Site | None:
    """The freezing was not seen, but the source has only one line that freezes."""
    if optimizer.made is None:
        return None
    lines = freezing_lines(optimizer.made.file)
    return Site.read(optimizer.made.file, lines[0]) if len(lines) == 1 else None
