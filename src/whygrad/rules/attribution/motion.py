"""Steps that go nowhere: too small, too large, or back and forth."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.model import Confidence, Look, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

STANDSTILL = (
    1e-8  # of the weights, in one step: float32 rounds most of it away, a million steps make a percent
)
OVERTURNED = 2.0  # a step twice as long as all the weights together
REVERSED = -0.8  # the cosine between one gradient and the next
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
                yield _stalled(situation, optimizer, members, max(ratios), "still")
            elif len(ratios) >= _OVER and min(ratios) > OVERTURNED:
                yield _stalled(situation, optimizer, members, min(ratios), "over")


def _ratio(look: Look, members: tuple[Parameter, ...]) -> float | None:
    """The length of a step of a network, measured by its weights."""
    moved = [look.moved[p.key] for p in members if p.key in look.moved]
    if not any(look.largest.get(p.key) for p in members):
        return None
    weight = sum(m.weight**2 for m in moved) ** 0.5
    return sum(m.change**2 for m in moved) ** 0.5 / weight if weight > 0 else None


def _stalled(
    situation: Situation, optimizer: Optimizer, members: tuple[Parameter, ...], ratio: float, how: str
) -> Cause:
    details = {"how": how, "ratio": f"{ratio:.1e}" if how == "still" else f"{ratio:.1f}"}
    return _cause(situation, "stalled", optimizer, members, details, optimizer.made)


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
        members = situation.parameters(optimizer.held)
        details = {"turn": f"{max(turns):.2f}", "first": f"{losses[0]:.3g}", "last": f"{losses[-1]:.3g}"}
        yield _cause(situation, "oscillating", optimizer, members, details, optimizer.made)


def _cause(
    situation: Situation,
    rule: str,
    optimizer: Optimizer,
    members: tuple[Parameter, ...],
    details: dict[str, str],
    site: Site | None,
) -> Cause:
    step = next((u.site for u in situation.updates(optimizer)), None)
    return Cause(
        rule,
        site or step,
        members,
        (Step(step.code if step else "step()", step, cut=True),),
        details,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
    )
