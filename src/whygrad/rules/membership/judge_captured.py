"""Compiled functions that still train, or run, a network that has been replaced since."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Backward, Mark, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.membership.stale_closure import StaleClosure


def captured(situation: Situation) -> Iterator[Cause]:
    """An optimizer that steps in compiled code and holds nothing that the script can still reach."""
    known = situation.evidence.parameters
    for optimizer in situation.evidence.optimizers.values():
        held = [known[k] for k in optimizer.held if k in known]
        old = [p for p in held if p.alive and p.trained and p.captured_at is not None]
        if old and optimizer.steps > 1:
            yield _cause(optimizer, old[0].captured_at, tuple(old), None)
            continue
        if not optimizer.steps or not held or any(p.alive or p.captured_at is None for p in held):
            continue
        heirs = [
            p
            for p in known.values()
            if p.alive and p.trainable and not p.trained and p.key not in situation.holders
            if any(p.network == old.network and p.shape == old.shape for old in held)
        ]
        if heirs:
            yield _cause(optimizer, held[0].captured_at, tuple(heirs), None)


def runs_another(
    situation: Situation, optimizer: Optimizer, parameter: Parameter, backward: Backward
) -> Cause | None:
    """The loss is computed by a compiled function with a network that nobody has any more."""
    known = situation.evidence.parameters
    living = [known[k] for k in sorted(situation.reach(backward).living()) if k in known]
    old = [p for p in living if p.captured_at is not None and not p.alive]
    return _cause(optimizer, old[0].captured_at, (parameter,), backward) if old else None


def _cause(
    optimizer: Optimizer, site: Site | None, members: tuple[Parameter, ...], backward: Backward | None
) -> Cause:
    steps = (
        Step(members[0].name, members[0].made[0] if members[0].made else None),
        Step(site.code if site else "a compiled function", site, mark=Mark.GAP),
    )
    loss = backward.flow[backward.roots[0]].site if backward is not None and backward.roots else None
    return StaleClosure(
        site=site,
        subjects=members,
        chain=steps,
        optimizer=optimizer.name,
        loss=loss,
        first_update=1,
        updates=optimizer.steps,
    )
