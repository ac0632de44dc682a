"""Steps that go nowhere: too small, too large, or back and forth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whygrad.flow.situation import Situation
from whygrad.model import Confidence, Look, Mark, Optimizer, Parameter, Severity, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.figures.oscillating import REVERSED, Oscillating
from whygrad.rules.figures.stalled import OVERTURNED, STANDSTILL, Stalled

_TURNS, _STILL, _OVER = 5, 2, 3
_LONG, _SHARE = 20, 0.4  # updates, and of them: the end of a schedule is meant to be small
_WEAK = 0.01  # of the gradients with which it moved
_EARLY = 0.25  # of the updates, in which nothing moves any more


def stalled(situation: Situation) -> Iterator[Cause]:
    """Networks that a step hardly moves, though it has gradients; or that it throws far away."""
    for optimizer in situation.evidence.optimizers.values():
        if optimizer.lr_always_zero:
            continue
        looks = [look for look in situation.looks(optimizer) if look.moved and any(look.largest.values())]
        weights = [p for p in situation.parameters(optimizer.held) if len(p.shape) > 1]
        for network in dict.fromkeys(p.network for p in weights):
            members = tuple(p for p in weights if p.network == network)
            ratios = [r for look in looks if (r := _ratio(look, members)) is not None]
            if len(ratios) >= _STILL and max(ratios) < STANDSTILL:
                yield Stalled(ratio=max(ratios), **_common(situation, optimizer, members))
            elif len(ratios) >= _OVER and min(ratios) > OVERTURNED:
                yield Stalled(over=True, ratio=min(ratios), **_common(situation, optimizer, members))
            elif not optimizer.still and (since := _stopped(optimizer, looks, members)):
                yield Stalled(since=since, **_common(situation, optimizer, members))


def faded(situation: Situation) -> Iterator[Cause]:
    """A learning rate that has been nothing for a large part of the training."""
    for optimizer in situation.evidence.optimizers.values():
        lost = optimizer.steps - optimizer.faded + 1
        if optimizer.faded > 1 and lost >= max(_LONG, _SHARE * optimizer.steps):
            members = situation.parameters(optimizer.held)
            yield Stalled(faded=optimizer.faded, **_common(situation, optimizer, members))


def _ratio(look: Look, members: tuple[Parameter, ...]) -> float | None:
    """The length of a step of a network, measured by its weights."""
    moved = [look.moved[p.key] for p in members if p.key in look.moved]
    if not any(look.largest.get(p.key) for p in members):
        return None
    weight = sum(m.weight**2 for m in moved) ** 0.5
    return sum(m.change**2 for m in moved) ** 0.5 / weight if weight > 0 else None


def _stopped(optimizer: Optimizer, looks: list[Look], members: tuple[Parameter, ...]) -> int:
    """The first look of those at the end in which alive gradients moved nothing at all; 0 if there is none.

    Steps must have moved it before, and a good part of the run must have come after.
    """
    known = [(look, ratio) for look in looks if (ratio := _ratio(look, members)) is not None]
    still: list[Look] = []
    while known and known[-1][1] == 0:
        still.append(known.pop()[0])
    if not known or not still:
        return 0
    strong = max(_strength(look, members) for look, _ in known)
    weak = any(_strength(look, members) < _WEAK * strong for look in still)  # it may have arrived
    since = still[-1].number
    return since if not weak and optimizer.steps - since >= _EARLY * optimizer.steps else 0


def _strength(look: Look, members: tuple[Parameter, ...]) -> float:
    return max((look.largest.get(p.key, 0.0) for p in members), default=0.0)


def oscillating(situation: Situation) -> Iterator[Cause]:
    """Each gradient points back where the one before came from, and the loss does not fall."""
    for optimizer in situation.evidence.optimizers.values():
        looks = situation.looks(optimizer)
        turns = [look.turned for look in looks if look.turned is not None]
        losses = [look.loss for look in looks if look.loss is not None]
        if len(turns) < _TURNS or max(turns) > REVERSED or len(losses) < _TURNS:
            continue
        if abs(losses[-1]) < 0.5 * abs(losses[0]):
            continue  # it gets somewhere all the same
        common = _common(situation, optimizer, situation.parameters(optimizer.held))
        yield Oscillating(turn=max(turns), first=losses[0], last=losses[-1], **common)


def _common(situation: Situation, optimizer: Optimizer, members: tuple[Parameter, ...]) -> dict[str, Any]:
    step = next((u.site for u in situation.updates(optimizer)), None)
    called = Step.at(step, dialect_of(situation.evidence.framework).step)
    return {
        "site": optimizer.made or step,
        "subjects": members,
        "chain": (Step.at(optimizer.made, optimizer.name, mark=Mark.HERE), called),
        "severity": Severity.WARNING,
        "confidence": Confidence.LIKELY,
        "optimizer": optimizer.name,
        "first_update": 1,
        "updates": optimizer.steps,
    }
