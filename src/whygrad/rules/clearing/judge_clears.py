"""Gradients that are cleared too late, too early, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.few import few_per_line
from whygrad.flow.paths import living_values
from whygrad.flow.situation import Situation
from whygrad.flow.sums import Parts
from whygrad.flow.terms import terms
from whygrad.model import Backward, Kind, Mark, Optimizer, Site, Step, Update
from whygrad.model.kinds import SCALES
from whygrad.rules.cause import Cause
from whygrad.rules.clearing.polluted_gradient import PollutedGradient
from whygrad.rules.clearing.zero_grad_before_step import ZeroGradBeforeStep
from whygrad.rules.clearing.zero_grad_missing import ZeroGradMissing
from whygrad.rules.dialects import dialect_of

_MOST_ADDENDS = 16
_COMBINING = SCALES | {Kind.EXP, Kind.POWER, Kind.MAGNITUDE, Kind.LOSS}


def cleared_too_early(situation: Situation) -> Iterator[Cause]:
    """In every update the gradients were cleared between ``backward`` and ``step``."""
    for optimizer in situation.evidence.optimizers.values():
        updates = situation.updates(optimizer)
        if not updates or not all(u.lost for u in updates):
            continue
        lost = frozenset.intersection(*(u.lost for u in updates))
        last = updates[-1]
        backward = next((b.site for b in last.backwards if b.reached & lost), None)
        yield ZeroGradBeforeStep(
            site=last.lost_at,
            subjects=situation.parameters(lost),
            chain=_between(situation, backward, last),
            optimizer=optimizer.name,
            first_update=updates[0].number,
            updates=optimizer.steps,
            backward=backward,
            step=last.site,
        )


def _between(situation: Situation, backward: Site | None, update: Update) -> tuple[Step, ...]:
    here = dialect_of(situation.evidence.framework)
    return (
        Step.at(backward, here.differentiate),
        Step.at(update.lost_at, "zero_grad()", mark=Mark.LOST),
        Step.at(update.site, here.step),
    )


def never_cleared(situation: Situation) -> Iterator[Cause]:
    """Each ``backward`` adds to gradients that a step has used before, and nobody ever clears them."""
    for optimizer in situation.evidence.optimizers.values():
        numbers = {u.number for u in situation.updates(optimizer)}
        later = [u for u in situation.updates(optimizer) if u.number - 1 in numbers]
        if not later or _ever_cleared(situation, optimizer):
            continue
        piling = [b for u in later for b in u.backwards if b.stale & optimizer.held]
        if any(not any(b.stale & optimizer.held for b in u.backwards) for u in later if u.backwards):
            continue
        if piling:
            yield _piling_up(situation, optimizer, piling, later[-1].site)


def _piling_up(
    situation: Situation, optimizer: Optimizer, piling: list[Backward], step: Site | None
) -> Cause:
    last, here = _own(optimizer, piling), dialect_of(situation.evidence.framework)
    keys = frozenset.intersection(*(b.stale for b in piling if b.site == last.site)) & optimizer.held
    return ZeroGradMissing(
        site=last.site,
        subjects=situation.parameters(keys or last.stale & optimizer.held),
        chain=(
            Step.at(step, here.step),
            Step("nothing clears the gradients"),
            Step.at(last.site, here.differentiate, mark=Mark.HERE),
        ),
        optimizer=optimizer.name,
        loss=_loss(last),
        first_update=2,
        updates=optimizer.steps - 1,
        step=step,
    )


def _own(optimizer: Optimizer, backwards: list[Backward]) -> Backward:
    """The last backward that this optimizer stepped on, rather than one that passed by."""
    own = [b for b in backwards if b.follower == optimizer.key]
    return (own or backwards)[-1]


def _ever_cleared(situation: Situation, optimizer: Optimizer) -> bool:
    """Cleared at some time after the first step, as a whole or in part: then the rhythm is meant."""
    first = min((u.time for u in situation.updates(optimizer)), default=0)
    cleared = any(c.parameters & optimizer.held and c.time > first for c in situation.evidence.clears)
    return cleared or optimizer.clears > 0 or bool(optimizer.held & situation.evidence.assigned.keys())


def polluted(situation: Situation) -> Iterator[Cause]:
    """A loss that was made for one optimizer leaves gradients that another one applies."""
    silent = {c.optimizer for c in never_cleared(situation)}
    for optimizer in situation.evidence.optimizers.values():
        if optimizer.name in silent:
            continue
        found: dict[Site | None, tuple[Backward, Backward, frozenset[int]]] = {}
        updates = [u for u in situation.updates(optimizer) if u.backwards]
        for update in updates:
            for leak, own, keys in (
                *_left_over(situation, optimizer, update),
                *_objective(situation, optimizer, update),
            ):
                found.setdefault(leak.site, (leak, own, keys))
        for leak, own, keys in found.values():
            yield _pollution(situation, optimizer, leak, own, keys)


def _left_over(
    situation: Situation, optimizer: Optimizer, update: Update
) -> Iterator[tuple[Backward, Backward, frozenset[int]]]:
    """Another optimizer stepped on a backward, and what it left here went into our next step."""
    for leak in update.backwards:
        other = situation.evidence.optimizers.get(leak.follower)
        if other is None or other.key == optimizer.key or not other.held & leak.reached:
            continue
        keys = (leak.applied & optimizer.held) - other.held
        later = [b for b in update.backwards if b.time > leak.followed and b.reached & keys and b is not leak]
        if keys and later:
            yield leak, later[-1], keys & later[-1].reached


def _objective(
    situation: Situation, optimizer: Optimizer, update: Update
) -> Iterator[tuple[Backward, Backward, frozenset[int]]]:
    """A network that is regressed on a target is also moved to please another network's objective."""
    tapes = any(b.tape for b in update.backwards)  # there each step has losses of its own
    for own in situation.backwards if tapes else (*update.backwards, *_anothers(situation, optimizer)):
        for boot in situation.bootstraps(own):
            parts = situation.parts(own)
            critic = frozenset(k for p in boot.predictions if p.live for k in parts.behind(p.op))
            critic &= optimizer.held & own.applied
            for leak in filter(situation.whole, update.backwards) if critic else ():
                if critic <= leak.applied and _pleases(situation, leak, critic):
                    yield leak, own, critic
                    return


def _anothers(situation: Situation, optimizer: Optimizer) -> Iterator[Backward]:
    """The losses that another optimizer steps on: a critic may be in both of their lists."""
    for backward in situation.backwards:
        other = situation.evidence.optimizers.get(backward.follower)
        if other is not None and other.key != optimizer.key and other.held & optimizer.held:
            yield backward


def _pleases(situation: Situation, backward: Backward, critic: frozenset[int]) -> bool:
    """Does a term of the loss push the critic's very output up or down, to train what stands before it?"""
    parts: Parts = situation.parts(backward)
    for root in backward.roots:
        for op in few_per_line(term.op for term in terms(backward.flow, root)):
            for addend in parts.addends(op.id)[:_MOST_ADDENDS]:
                if addend.data or not addend.live:
                    continue
                if parts.flow[addend.op].kind in _COMBINING:
                    continue
                behind = _living_behind(backward, addend.op)
                upstream = (behind - critic) & backward.applied
                if critic <= behind and upstream and _feeds(backward, addend.op, upstream, critic):
                    return True
    return False


def _feeds(backward: Backward, op: int, upstream: frozenset[int], critic: frozenset[int]) -> bool:
    """Does a layer of the critic work on what the other network gave?"""
    for number in living_values(backward.flow, [op]):
        inputs = backward.flow[number].inputs
        if any(backward.flow.parameter(i) in critic for i in inputs):
            rest = [i for i in inputs if backward.flow.parameter(i) is None and backward.flow[i].carries]
            if any(_living_behind(backward, i) & upstream for i in rest):
                return True
    return False


def _living_behind(backward: Backward, op: int) -> frozenset[int]:
    values = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in values if k is not None)


def _pollution(
    situation: Situation, optimizer: Optimizer, leak: Backward, own: Backward, keys: frozenset[int]
) -> Cause:
    here, same = dialect_of(situation.evidence.framework), leak.number == own.number
    asked = leak.tape or bool(leak.wanted)
    held = not asked and own.follower != optimizer.key and leak.follower == optimizer.key
    if held and optimizer.made is not None:
        return _in_its_list(situation, optimizer, leak, own, keys)
    between = () if same or asked else (Step.at(own.site, here.differentiate),)
    applied = "both" if same or between else "it"
    return PollutedGradient(
        site=leak.site,
        subjects=situation.parameters(keys),
        chain=(
            Step.at(leak.site, here.differentiate, mark=Mark.LEAK),
            *between,
            Step(f"{optimizer.name}.{here.step} applies {applied}"),
        ),
        optimizer=optimizer.name,
        loss=_loss(leak),
        first_update=1,
        updates=optimizer.steps,
        own=own.site,
        together=same,
        asked=asked,
    )


def _in_its_list(
    situation: Situation, optimizer: Optimizer, leak: Backward, own: Backward, keys: frozenset[int]
) -> Cause:
    """The optimizer of the actor holds the critic as well, which another one trains."""
    here = dialect_of(situation.evidence.framework)
    return PollutedGradient(
        site=optimizer.made,
        subjects=situation.parameters(keys),
        chain=(
            Step.at(optimizer.made, optimizer.name, mark=Mark.HERE),
            Step.at(leak.site, here.differentiate, mark=Mark.LEAK),
            Step(f"{optimizer.name}.{here.step} applies it"),
        ),
        optimizer=optimizer.name,
        loss=_loss(leak),
        first_update=1,
        updates=optimizer.steps,
        own=own.site,
        held=True,
    )


def _loss(backward: Backward) -> Site | None:
    return backward.flow[backward.roots[0]].site if backward.roots else None
