"""Gradients that clipping has made exactly zero: of the gradients themselves, or of the loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whygrad.flow.paths import Path
from whygrad.flow.situation import Situation
from whygrad.model import Kind, Mark, Op, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.clipping.clip_to_nothing import ClipToNothing

_CLIPS = frozenset((Kind.BOUND, Kind.EXTREME))


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
            yield _cause(optimizer, situation.parameters(away), updates[-1].clipped_at, left=0.0)
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
                yield _cause(optimizer, members, clip.site, of="loss")


def _clip_on(path: Path) -> Op | None:
    """A clip that the user wrote between the network and the loss, the last one."""
    clips = [op for op in path.ops if op.kind in _CLIPS and op.site is not None and "cl" in op.site.code]
    return clips[-1] if clips else None


def _cause(
    optimizer: Optimizer, members: tuple[Parameter, ...], site: Site | None, **facts: Any
) -> ClipToNothing:
    return ClipToNothing(
        site=site,
        subjects=members,
        chain=(
            Step(members[0].name, members[0].made[0] if members[0].made else None),
            Step(site.code if site else "clipping", site, mark=Mark.FLAT),
        ),
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
        **facts,
    )
