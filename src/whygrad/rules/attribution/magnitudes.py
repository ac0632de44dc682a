"""Gradients that are there, and far too small or far too large."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from statistics import median

from whygrad.model import Confidence, Look, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

ADAM_EPSILON = 1e-8  # Adam divides by it what is smaller: such a weight stands still with any optimizer
FAR_BELOW = 1e-5  # of the largest gradient in the same network
GROWTH = 1e4  # above what it was at the beginning
LARGE = 1e3  # one element of a gradient; whatever the loss, no step survives that
SPIKE = 1e6  # above its own median
_LEAST, _POINTS = 3, 6


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
            small = {p: s for p, s in members.items() if 0 < s < min(ADAM_EPSILON, FAR_BELOW * top)}
            if any(len(p.shape) > 1 for p in small):
                yield _vanishing(optimizer, small, top, looks[0].number)


def _sizes(situation: Situation, looks: list[Look]) -> dict[Parameter, float]:
    """The usual size of each gradient."""
    keys = frozenset.intersection(*(frozenset(look.largest) for look in looks))
    found = {p: median(look.largest[p.key] for look in looks) for p in situation.parameters(keys)}
    return {p: size for p, size in found.items() if isfinite(size)}


def _vanishing(optimizer: Optimizer, small: dict[Parameter, float], top: float, since: int) -> Cause:
    subjects = tuple(small)
    worst = min(small, key=lambda p: small[p])
    site = worst.made[0] if worst.made else optimizer.made
    steps = (Step(f"{worst.name}: largest element {small[worst]:.1e}", site, cut=True),)
    details = {"size": f"{small[worst]:.1e}", "top": f"{top:.1e}", "worst": worst.name}
    return _cause("vanishing", optimizer, site, subjects, steps, details, since)


def exploding(situation: Situation) -> Iterator[Cause]:
    """Gradients that have grown without bound, or spike far above their own history."""
    for optimizer in situation.evidence.optimizers.values():
        points = _points(situation, optimizer)
        if len(points) < _POINTS:
            continue
        tops = [max(largest.values(), default=0.0) for _, largest in points]
        quarter = max(2, len(tops) // 4)
        early, late = median(tops[:quarter]), median(tops[-quarter:])
        usual = median(tops)
        peak = max(range(len(tops)), key=lambda n: tops[n])
        grown = late > LARGE and late > GROWTH * early
        if early > 0 and (grown or (tops[peak] > LARGE and tops[peak] > SPIKE * usual > 0)):
            begins = points[0][1]
            keys = [k for k, v in points[peak][1].items() if v > GROWTH * begins.get(k, 0.0)]
            figures = {"early": f"{early:.1e}", "late": f"{late if grown else tops[peak]:.1e}"}
            yield _exploding(situation, optimizer, keys, figures, grown, _since(points, tops, early, usual))


def _points(situation: Situation, optimizer: Optimizer) -> list[tuple[int, dict[int, float]]]:
    """All that is known of the size of its gradients, in order, as far as they are finite."""
    found = {p.number: dict(p.largest) for p in situation.evidence.pulses.get(optimizer.key, ())}
    found.update((look.number, dict(look.largest)) for look in situation.looks(optimizer) if look.largest)
    return [(n, largest) for n, largest in sorted(found.items()) if all(map(isfinite, largest.values()))]


def _since(points: list[tuple[int, dict[int, float]]], tops: list[float], early: float, usual: float) -> int:
    """The first update that was far above what is usual."""
    limit = min(GROWTH * early, SPIKE * usual)
    return next((number for (number, _), top in zip(points, tops, strict=True) if top > limit), 0)


def _exploding(
    situation: Situation,
    optimizer: Optimizer,
    keys: list[int],
    figures: dict[str, str],
    grown: bool,
    since: int,
) -> Cause:
    update = situation.updates(optimizer)[-1] if situation.updates(optimizer) else None
    backward = update.backwards[-1] if update is not None and update.backwards else None
    site = backward.site if backward is not None else optimizer.made
    subjects = situation.parameters(keys or optimizer.held)
    steps = (Step(f"largest element {figures['late']}, at first {figures['early']}", site, cut=True),)
    return _cause(
        "exploding", optimizer, site, subjects, steps, {**figures, "grown": "yes" if grown else ""}, since
    )


def _cause(
    rule: str,
    optimizer: Optimizer,
    site: Site | None,
    subjects: tuple[Parameter, ...],
    steps: tuple[Step, ...],
    details: dict[str, str],
    since: int,
) -> Cause:
    return Cause(
        rule,
        site,
        subjects,
        steps,
        details,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        first_update=since,
        updates=optimizer.steps,
    )
