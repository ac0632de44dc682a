"""Clipping in the wrong place, or too much of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isinf

from whygrad.model import Clip, Confidence, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_NEARLY_NOTHING = 0.01  # what is left of a gradient
_SMALL = 0.01  # a threshold that nobody chooses for a healthy gradient


def clips(situation: Situation) -> Iterator[Cause]:
    """One cause per line that clips: the first that applies to all its calls."""
    by_site: dict[Site | None, list[Clip]] = {}
    for clip in situation.evidence.clips:
        if clip.threshold is None or not isinf(clip.threshold):  # clipping at infinity only measures
            by_site.setdefault(clip.site, []).append(clip)
    for site, calls in by_site.items():
        rule = _unused(situation, calls) or _misplaced(situation, calls) or _too_much(calls)
        if rule:
            yield _cause(situation, rule, site, calls)
    yield from _stacked(situation)


def _unused(situation: Situation, calls: list[Clip]) -> str:
    """Every clipped copy was dropped, and the raw gradients were applied."""
    if any(c.kind != "dropped" for c in calls):
        return ""
    return "clip-unused" if any(c.parameters & _stepped(situation) or not c.parameters for c in calls) else ""


def _stepped(situation: Situation) -> frozenset[int]:
    return frozenset(k for o in situation.evidence.optimizers.values() if o.steps for k in o.held)


def _misplaced(situation: Situation, calls: list[Clip]) -> str:
    """No call found a gradient that was still to be used."""
    judged = [c for c in calls if c.parameters & _stepped(situation) and c.kind != "dropped"]
    if not judged or any(c.fresh for c in judged):
        return ""
    awaited = [c for c in judged if c.awaited]
    if awaited:
        early = [c for c in awaited if c.ready or not c.present]
        return "clip-before-backward" if 2 * len(early) > len(awaited) else "clip-after-step"
    return "clip-after-step" if all(c.present for c in judged) and len(judged) == 1 else ""


def _too_much(calls: list[Clip]) -> str:
    """The threshold takes nearly all of every gradient."""
    left = [_left(c) for c in calls if c.present]
    tight = all(c.threshold is not None and c.threshold <= _SMALL for c in calls)
    return "clip-to-nothing" if tight and left and all(part < _NEARLY_NOTHING for part in left) else ""


def _left(clip: Clip) -> float:
    """How much of the gradient a clip leaves."""
    if clip.threshold is None or clip.before is None or clip.before <= 0:
        return 1.0
    return min(1.0, clip.threshold / clip.before)


def _stacked(situation: Situation) -> Iterator[Cause]:
    """Two lines clip the same gradients, one after the other, and both take something away."""
    pairs = list(_pairs(situation.evidence.clips))
    seen: set[frozenset[Site | None]] = set()
    for before, after in pairs:
        lines = frozenset((before.site, after.site))
        if len(lines) < 2 or lines in seen:
            continue  # the same line in a loop, or the way back from one update to the next
        seen.add(lines)
        both = [(a, b) for a, b in pairs if (a.site, b.site) == (before.site, after.site)]
        acting = [1 for a, b in both if _left(a) < 0.99 and _left(b) < 0.99]
        if 2 * len(acting) > len(both):
            first = f"{before.site.code} (line {before.site.line})" if before.site else "another call"
            yield _cause(situation, "clip-to-nothing", after.site, [after], stacked=first)


def _pairs(found: Iterable[Clip]) -> Iterator[tuple[Clip, Clip]]:
    """Clips of the same gradients that follow each other without a step or a backward in between."""
    calls = [c for c in found if c.fresh and c.kind in ("norm", "value")]
    for before, after in pairwise(calls):
        if before.fresh == after.fresh and before.parameters == after.parameters:
            yield before, after


def _cause(situation: Situation, rule: str, site: Site | None, calls: list[Clip], stacked: str = "") -> Cause:
    keys = frozenset[int]().union(*(c.parameters for c in calls)) & _stepped(situation)
    last = calls[-1]
    optimizer = next((o for o in situation.evidence.optimizers.values() if o.held & keys), None)
    step = next(
        (u.site for u in situation.evidence.updates if optimizer and u.optimizer == optimizer.key), None
    )
    backward = next((b for b in situation.backwards if b.reached & keys), None)
    details = {
        "threshold": f"{last.threshold:g}" if last.threshold is not None else "",
        "before": f"{last.before:.3g}" if last.before is not None else "",
        "left": f"{100 * _left(last):.2g} %",
        "kind": last.kind,
        "absent": "" if any(c.present for c in calls) else "yes",
        "step_line": str(step.line) if step else "",
        "backward_line": str(backward.site.line) if backward and backward.site else "",
        "backward": backward.site.code if backward and backward.site else "",
        "step": step.code if step else "",
        "stacked": stacked,
    }
    return Cause(
        rule,
        site,
        situation.parameters(keys),
        tuple(_chain(rule, site, step, backward.site if backward else None)),
        details,
        severity=Severity.WARNING if stacked else Severity.ERROR,
        confidence=Confidence.LIKELY if stacked or rule == "clip-to-nothing" else Confidence.CERTAIN,
        optimizer=optimizer.name if optimizer else "",
        first_update=1,
        updates=optimizer.steps if optimizer else 0,
    )


def _chain(rule: str, site: Site | None, step: Site | None, backward: Site | None) -> Iterator[Step]:
    """The calls in the order in which they ran."""
    clip = Step(site.code if site else "clip", site, cut=True)
    ran = Step(backward.code if backward else "backward()", backward)
    stepped = Step(step.code if step else "step()", step)
    order = {"clip-before-backward": (clip, ran, stepped), "clip-after-step": (ran, stepped, clip)}
    yield from order.get(rule, (ran, clip, stepped))
