"""Regressions of a prediction on itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.alike import alike, copied
from whygrad.flow.comparisons import Comparisons
from whygrad.flow.few import few_per_line
from whygrad.flow.paths import living_values
from whygrad.flow.predictions import same_states
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Flow, Kind, Mark, Op, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.losses.self_target import SelfTarget
from whygrad.rules.stepped import stepped


def self_targets(situation: Situation) -> Iterator[Cause]:
    """One cause per comparison that compares a prediction with itself, in every update."""
    found: dict[Site | None, tuple[Backward, Op, Op]] = {}
    other: set[Site | None] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if not backward.applied & optimizer.held or not situation.whole(backward):
                    continue
                for op, target in _compared(situation, backward, update.since):
                    if target is None:
                        other.add(op.site)
                    else:
                        found.setdefault(op.site, (backward, op, target))
    for site, (backward, op, target) in found.items():
        if site not in other:
            yield _cause(situation, backward, op, target)


def _compared(situation: Situation, backward: Backward, since: int) -> Iterator[tuple[Op, Op | None]]:
    """The comparisons in a loss, each with the target that is the prediction itself, if it is."""
    living = situation.living(backward)
    comparisons = Comparisons(backward.flow, living)
    for op in few_per_line(backward.flow[n] for n in sorted(living)):
        if comparisons.compares(op):
            own = _own_target(backward.flow, op, living, since)
            yield op, own or _own_array(situation, backward, op, living)


def _own_target(flow: Flow, op: Op, living: set[int], since: int) -> Op | None:
    """The side that is no longer trained, if it is what the other one is; one of an earlier update is not."""
    sides = [flow[i] for i in op.inputs[:2]]
    trained = [side for side in sides if side.id in living and side.carries]
    if len(trained) != 1:
        return None
    target = sides[sides[0] is trained[0]]
    fresh = copied(flow, target.id).time > since
    return target if fresh and alike(flow, trained[0].id, target.id) else None


def _own_array(situation: Situation, backward: Backward, op: Op, living: set[int]) -> Op | None:
    """``model.fit(s, q)`` where ``q`` is still ``model.predict(s)``, as the source says."""
    parts = situation.parts(backward)
    trained = [i for i in op.inputs[:2] if i in living]
    others = [i for i in op.inputs[:2] if i not in living]
    if len(trained) != 1 or len(others) != 1:
        return None
    found = copied(parts.flow, others[0])
    lost = found if found.kind is Kind.PUT and _is_flat(situation, backward) else None
    while lost is not None and found.kind is Kind.PUT:  # x[rows][columns] = y writes into a copy
        found = copied(parts.flow, found.inputs[0])
    same = found.kind is Kind.PREDICT and parts.behind(found.id) == parts.behind(trained[0])
    if not same or not same_states(found.site, op.site):
        return None
    return replace(found, site=lost.site) if lost is not None else found


def _is_flat(situation: Situation, backward: Backward) -> bool:
    """Has every gradient of those who follow this loss been exactly zero, whenever it was looked at?"""
    holders = [o for o in situation.evidence.optimizers.values() if o.held & backward.applied]
    sizes = [s for o in holders for look in situation.looks(o) for s in look.largest.values()]
    return bool(sizes) and not any(sizes)


def _cause(situation: Situation, backward: Backward, op: Op, target: Op) -> SelfTarget:
    keys = frozenset(
        k for n in living_values(backward.flow, [op.id]) if (k := backward.flow[n].parameter) is not None
    )
    again = copied(backward.flow, target.id).id not in {
        copied(backward.flow, i).id for i in _rest(op, target)
    }
    return SelfTarget(
        site=_site(op, target),
        chain=(Step.at(target.site, "the target"), Step.at(op.site, "the loss", mark=Mark.HERE)),
        loss=op.site,
        again=again,
        **stepped(situation, keys & backward.applied or keys),
    )


def _site(op: Op, target: Op) -> Site | None:
    """Where the target is computed; of an array that was only predicted, where it is trained on."""
    predicted = target.kind is Kind.PREDICT and same_states(target.site, op.site)
    return op.site if predicted else target.site or op.site


def _rest(op: Op, target: Op) -> list[int]:
    return [i for i in op.inputs[:2] if i != target.id]
