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


def _ratio(look: Look, members: tuple[Parameter, ...]) -> float | None:
    """The length of a step of a network, measured by its weights."""
    moved = [look.moved[p.key] for p in members if p.key in look.moved]
    if not any(look.largest.get(p.key) for p in members):
        return None
    weight = sum(m.weight**2 for m in moved) ** 0.5
    return sum(m.change**2 for m in moved) ** 0.5 / weight if weight > 0 else None


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
