"""Gradients that clipping has made exactly zero: of the gradients themselves, or of the loss."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import Path
from whygrad.model import Op, Optimizer, Parameter, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_CLIPS = frozenset(("minimum", "maximum", "clip_by_value", "clamp", "clip", "clamp_min", "clamp_max"))


def vanished(situation: Situation) -> Iterator[Cause]:
    """An optimizer whose gradients are all zero in every update that was looked at."""
    if situation.evidence.framework == "torch":
        return  # there clips are seen one by one
    for optimizer in situation.evidence.optimizers.values():
        updates = [u for u in situation.updates(optimizer) if u.backwards]
        if len(updates) < 2:
            continue
        away = frozenset.intersection(*(u.clipped_away for u in updates))
        if away:
            yield _cause(optimizer, situation.parameters(away), updates[-1].clipped_at, {"left": "0 %"})
            continue
        zero = frozenset.intersection(*(u.zero for u in updates))
        given = optimizer.held - updates[-1].absent
        if not zero or zero != given:
            continue
        for backward in updates[-1].backwards[-1:]:
            members = situation.parameters(zero)
            path = situation.reach(backward).path(members[0].key) if members else None
            clip = _clip_on(path) if path is not None and path.living else None
            if clip is not None:
                yield _cause(optimizer, members, clip.site, {"loss": "yes"})


def _clip_on(path: Path) -> Op | None:
    """A clip that the user wrote between the network and the loss, the last one."""
    clips = [op for op in path.ops if op.name in _CLIPS and op.site is not None and "cl" in op.site.code]
    return clips[-1] if clips else None


def _cause(
    optimizer: Optimizer, members: tuple[Parameter, ...], site: Site | None, details: dict[str, str]
) -> Cause:
    steps = (
        Step(members[0].name, members[0].made[0] if members[0].made else None),
        Step(site.code if site else "clipping", site, cut=True),
    )
    return Cause(
        "clip-to-nothing",
        site,
        members,
        steps,
        details,
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
    )
