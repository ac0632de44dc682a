"""Gradients that clipping has made exactly zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whygrad.flow.situation import Situation
from whygrad.model import Mark, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.clipping.clip_to_nothing import ClipToNothing


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
