"""Gradients that are there, and far too small or far too large."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from statistics import median
from typing import Any

from whygrad.flow.magnitudes import GROWTH, SPIKE, ends, has_exploded, spikes, vanishes
from whygrad.flow.situation import Situation
from whygrad.model import Confidence, Look, Mark, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.figures.exploding import Exploding
from whygrad.rules.figures.vanishing import Vanishing

_LEAST, _POINTS = 3, 6
_Point = tuple[int, dict[int, float]]  # an update, and the largest element of each gradient in it


def vanishing(situation: Situation) -> Iterator[Cause]:
    """Layers whose gradient is too small to move them, beside others that learn."""
    for optimizer in situation.evidence.optimizers.values():
        looks = [look for look in situation.looks(optimizer) if look.largest]
        if len(looks) < _LEAST:
            continue
        sizes = _sizes(situation, looks)
        for network in dict.fromkeys(p.network for p in sizes):
            members = {p: size for p, size in sizes.items() if p.network == network}
            top = max(members.values())
            small = {p: size for p, size in members.items() if vanishes(size, top)}
            if any(len(p.shape) > 1 and _whole_layer(p, members, small) for p in small):
                yield _vanishing(optimizer, small, top, looks[0].number)


def _whole_layer(
    parameter: Parameter, members: dict[Parameter, float], small: dict[Parameter, float]
) -> bool:
    """The rest of its layer vanishes, too. To an attention, the bias of the keys makes no difference."""
    layer = parameter.name.rpartition(".")[0]
    return all(p in small for p in members if layer and p.name.rpartition(".")[0] == layer)


def _sizes(situation: Situation, looks: list[Look]) -> dict[Parameter, float]:
    """The usual size of each gradient."""
    keys = frozenset.intersection(*(frozenset(look.largest) for look in looks))
    found = {p: median(look.largest[p.key] for look in looks) for p in situation.parameters(keys)}
    return {p: size for p, size in found.items() if isfinite(size)}


def _vanishing(optimizer: Optimizer, small: dict[Parameter, float], top: float, since: int) -> Cause:
    worst = min(small, key=lambda p: small[p])
    site = worst.made[0] if worst.made else optimizer.made
    seen = f"{worst.name}: largest element {small[worst]:.1e}"
    common = _common(optimizer, site, tuple(small), seen, since)
    return Vanishing(worst=worst, size=small[worst], top=top, **common)


def exploding(situation: Situation) -> Iterator[Cause]:
    """Gradients that have grown without bound, or spike far above their own history."""
    for optimizer in situation.evidence.optimizers.values():
        points = _points(situation, optimizer)
        if len(points) < _POINTS:
            continue
        tops = [max(largest.values(), default=0.0) for _, largest in points]
        early, late = ends(tops, least=2)
        grown = has_exploded(early, late)
        if early > 0 and (grown or spikes(median(tops), max(tops))):
            yield _exploding(situation, optimizer, points, tops, grown)


def _points(situation: Situation, optimizer: Optimizer) -> list[_Point]:
    """All that is known of the size of its gradients, in order, as far as they are finite."""
    found = {p.number: dict(p.largest) for p in situation.evidence.pulses.get(optimizer.key, ())}
    found.update((look.number, dict(look.largest)) for look in situation.looks(optimizer) if look.largest)
    return [(n, largest) for n, largest in sorted(found.items()) if all(map(isfinite, largest.values()))]


def _exploding(
    situation: Situation, optimizer: Optimizer, points: list[_Point], tops: list[float], grown: bool
) -> Cause:
    early, late = ends(tops, least=2)
    late = late if grown else max(tops)
    members = situation.parameters(_risen(points, tops) or optimizer.held)
    seen = f"largest element {late:.1e}, at first {early:.1e}"
    common = _common(optimizer, _site(situation, optimizer), members, seen, _since(points, tops, early))
    return Exploding(grown=grown, early=early, late=late, **common)


def _risen(points: list[_Point], tops: list[float]) -> list[int]:
    """The parameters whose gradients have grown, where they are largest."""
    begins, (_, peak) = points[0][1], points[tops.index(max(tops))]
    return [k for k, v in peak.items() if v > GROWTH * begins.get(k, 0.0)]


def _since(points: list[_Point], tops: list[float], early: float) -> int:
    """The first update that was far above what is usual."""
    limit = min(GROWTH * early, SPIKE * median(tops))
    return next((number for (number, _), top in zip(points, tops, strict=True) if top > limit), 0)


def _site(situation: Situation, optimizer: Optimizer) -> Site | None:
    """The call that differentiates."""
    backwards = [b for u in situation.updates(optimizer)[-1:] for b in u.backwards]
    return backwards[-1].site if backwards else optimizer.made


def _common(
    optimizer: Optimizer, site: Site | None, subjects: tuple[Parameter, ...], seen: str, since: int
) -> dict[str, Any]:
    return {
        "site": site,
        "subjects": subjects,
        "chain": (Step(seen, site, mark=Mark.HERE),),
        "severity": Severity.WARNING,
        "confidence": Confidence.LIKELY,
        "optimizer": optimizer.name,
        "first_update": since,
        "updates": optimizer.steps,
    }
