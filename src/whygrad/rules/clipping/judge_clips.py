"""Clipping in the wrong place, or too much of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import isinf
from typing import Any

from whygrad.flow.situation import Situation
from whygrad.model import Clear, Clip, Confidence, Mark, Severity, Site, Step, Update
from whygrad.rules.cause import Cause
from whygrad.rules.clipping.clip_after_step import ClipAfterStep
from whygrad.rules.clipping.clip_before_backward import ClipBeforeBackward
from whygrad.rules.clipping.clip_to_nothing import ClipToNothing
from whygrad.rules.clipping.clip_unused import ClipUnused
from whygrad.rules.dialects import dialect_of

_NEARLY_NOTHING = 0.01  # what is left of a gradient
HERE = object()  # the clip itself, in the order of calls
_OFTEN = 3
_SMALL = 0.01  # a threshold that nobody chooses for a healthy gradient


def clips(situation: Situation) -> Iterator[Cause]:
    """One cause per line that clips: the first that applies to all its calls."""
    by_site: dict[Site | None, list[Clip]] = {}
    for clip in situation.evidence.clips:
        if clip.threshold is None or not isinf(clip.threshold):  # clipping at infinity only measures
            by_site.setdefault(clip.site, []).append(clip)
    for calls in by_site.values():
        found = (
            _unused(situation, calls)
            or _beside(situation, calls)
            or _misplaced(situation, calls)
            or _too_much(situation, calls)
        )
        if found is not None:
            yield found
    yield from _stacked(situation)


def _unused(situation: Situation, calls: list[Clip]) -> Cause | None:
    """Every clipped copy was dropped, and the raw gradients were applied."""
    if any(c.kind != "dropped" for c in calls):
        return None
    if not any(c.parameters & _stepped(situation) or not c.parameters for c in calls):
        return None
    around = _Around(situation, calls)
    return ClipUnused(step=around.step, **around.common(around.backward, HERE, around.step))


def _beside(situation: Situation, calls: list[Clip]) -> Cause | None:
    """No call had a gradient that a step applies: it was given nothing, or another network's parameters."""
    if any(c.kind not in ("norm", "value") for c in calls):
        return None
    steps = sorted(situation.evidence.updates, key=lambda u: u.time)
    missed: list[tuple[Clip, Update]] = []
    for clip in calls:
        following = next((u for u in steps if u.time > clip.time), None)
        cleared = min((c.time for c in _clears_of(situation, clip) if c.time > clip.time), default=None)
        if following is None or (clip.present and cleared is None):
            continue  # what became of it was not seen
        held = situation.evidence.optimizers[following.optimizer].held
        wanted = any(b.applied & held and b.time < clip.time for b in following.backwards)
        later = [u for u in steps if clip.time < u.time < (cleared or 0)]
        used = any(clip.present & situation.evidence.optimizers[u.optimizer].held for u in later)
        if clip.parameters & (held | situation.crossed.keys()) or not wanted or used:
            return None
        missed.append((clip, following))
    return _passing_by(situation, *missed[-1]) if len(missed) >= _OFTEN else None


def _clears_of(situation: Situation, clip: Clip) -> Iterator[Clear]:
    return (c for c in situation.evidence.clears if c.parameters & clip.parameters)


def _passing_by(situation: Situation, clip: Clip, following: Update) -> Cause:
    held = situation.evidence.optimizers[following.optimizer].held
    around = _Around(situation, [replace(clip, parameters=held)])
    common = around.common(around.backward, HERE, following.site)
    return ClipUnused(step=following.site, empty=not clip.parameters, beside=True, **common)


def _stepped(situation: Situation) -> frozenset[int]:
    """What a step changes, and whose gradients it uses for others: a worker's, for the shared network."""
    held = frozenset(k for o in situation.evidence.optimizers.values() if o.steps for k in o.held)
    return held | situation.crossed.keys()


def _misplaced(situation: Situation, calls: list[Clip]) -> Cause | None:
    """No call found a gradient that was still to be used."""
    judged = [c for c in calls if c.parameters & _stepped(situation) and c.kind != "dropped"]
    if not judged or any(c.fresh for c in judged):
        return None
    awaited = [c for c in judged if c.awaited]
    early = [c for c in awaited if c.ready or not c.present]
    if awaited and 2 * len(early) > len(awaited):
        return _too_early(situation, calls)
    if awaited or (all(c.present for c in judged) and len(judged) == 1):
        around = _Around(situation, calls)
        return ClipAfterStep(step=around.step, **around.common(around.backward, around.step, HERE))
    return None


def _too_early(situation: Situation, calls: list[Clip]) -> Cause:
    around = _Around(situation, calls)
    common = around.common(HERE, around.backward, around.step)
    return ClipBeforeBackward(backward=around.backward, absent=not any(c.present for c in calls), **common)


def _too_much(situation: Situation, calls: list[Clip]) -> Cause | None:
    """The threshold takes nearly all of every gradient."""
    scaled = [c for c in calls if c.present and c.scaled]
    if scaled and all(c.scaled for c in calls) and min(map(_left, scaled)) < 1:
        return _to_nothing(situation, scaled, scaled=True)
    left = [_left(c) for c in calls if c.present]
    tight = all(c.threshold is not None and c.threshold <= _SMALL for c in calls)
    if not tight or not left or any(part >= _NEARLY_NOTHING for part in left):
        return None
    return _to_nothing(situation, calls, confidence=Confidence.LIKELY)


def _to_nothing(situation: Situation, calls: list[Clip], **more: Any) -> Cause:
    around, last = _Around(situation, calls), calls[-1]
    return ClipToNothing(
        of=last.kind,
        threshold=last.threshold,
        before=last.before,
        left=_left(last),
        **around.common(around.backward, HERE, around.step),
        **more,
    )


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
            unsure = {"severity": Severity.WARNING, "confidence": Confidence.LIKELY}
            yield _to_nothing(situation, [after], stacked=first, **unsure)


def _pairs(found: Iterable[Clip]) -> Iterator[tuple[Clip, Clip]]:
    """Clips of the same gradients that follow each other without a step or a backward in between."""
    calls = [c for c in found if c.fresh and c.kind in ("norm", "value")]
    for before, after in pairwise(calls):
        if before.fresh == after.fresh and before.parameters == after.parameters:
            yield before, after


class _Around:
    """What stands around the calls of one line that clips."""

    def __init__(self, situation: Situation, calls: list[Clip]) -> None:
        keys = frozenset[int]().union(*(c.parameters for c in calls)) & _stepped(situation)
        keys |= {situation.crossed[k] for k in keys if k in situation.crossed}
        evidence = situation.evidence
        self._optimizer = next((o for o in evidence.optimizers.values() if o.held & keys), None)
        key = self._optimizer.key if self._optimizer else None
        self.step = next((u.site for u in evidence.updates if u.optimizer == key), None)
        self.backward = next((b.site for b in situation.backwards if b.reached & keys), None)
        self._subjects = situation.parameters(keys)
        self._site, self._dialect = calls[-1].site, dialect_of(situation.evidence.framework)

    def common(self, *order: object) -> dict[str, Any]:
        """What all causes of this topic have; the chain is the calls in the order in which they ran."""
        return {
            "site": self._site,
            "subjects": self._subjects,
            "chain": tuple(map(self._link, order)),
            "optimizer": self._optimizer.name if self._optimizer else "",
            "first_update": 1,
            "updates": self._optimizer.steps if self._optimizer else 0,
        }

    def _link(self, place: object) -> Step:
        if place is HERE:
            return Step(self._site.code if self._site else "clip", self._site, mark=Mark.HERE)
        if isinstance(place, Site):
            return Step(place.code, place)
        return Step(self._dialect.step)
