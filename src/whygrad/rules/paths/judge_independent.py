"""The loss that was differentiated does not depend on the parameter at all."""

from __future__ import annotations

from whygrad.flow.situation import Situation
from whygrad.flow.terms import loss_op
from whygrad.model import Backward, Mark, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.paths.heads import unused_head
from whygrad.rules.paths.loss_independent import Kind, LossIndependent


def independent(
    situation: Situation, optimizer: Optimizer, parameter: Parameter, backward: Backward
) -> Cause:
    """Never called, called in vain, another network in its place, or a constant loss: which of them?"""
    root = loss_op(backward.flow, backward.roots[0], backward.site.line if backward.site else None)
    constant = _constant_term(situation, backward)
    site = constant or root.site or backward.site
    reach = situation.reach(backward)
    known = situation.evidence.parameters
    others = {known[k].network for k in reach.parameters.keys() - optimizer.held if known[k].lasting}
    kind: Kind = "unused" if parameter.used else "never-called"
    others.discard(parameter.network)
    if not reach.living():
        kind = "constant" if parameter.used else "never-called"
    elif not any(known[k].network == parameter.network for k in reach.living() if k in known) and others:
        kind = "other-network"
    learns = any(situation.evidence.parameters[k].trained for k in optimizer.held)
    severity = Severity.WARNING if kind == "never-called" and learns else Severity.ERROR
    if kind == "unused" and not constant and unused_head(situation, optimizer, parameter):
        kind, severity = "head", Severity.NOTE
    return LossIndependent(
        kind=kind,
        instead=tuple(sorted(others)) if kind == "other-network" else (),
        site=site,
        subjects=(parameter,),
        chain=(
            Step(parameter.name, parameter.made[0] if parameter.made else None),
            Step("does not enter the loss", None, mark=Mark.GAP),
            Step.at(site, "the loss"),
        ),
        severity=severity,
        optimizer=optimizer.name,
        loss=site,
    )


def _constant_term(situation: Situation, backward: Backward) -> Site | None:
    """The one term of the loss that is made of data only: it was meant to train something."""
    terms = [(term, reach) for term, reach in situation.terms(backward) if term.scalar]
    dead = [term for term, reach in terms if not reach.parameters and term.op.inputs]
    if len(terms) < 2 or len({t.op.site for t in dead}) != 1:
        return None
    return dead[0].op.site
