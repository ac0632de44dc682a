"""Gradients that were to be accumulated over several losses, and are cleared before each of them."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Backward, Clear, Confidence, Mark, Optimizer, Severity, Step
from whygrad.rules.cause import Cause
from whygrad.rules.clearing.zero_grad_before_step import ZeroGradBeforeStep
from whygrad.rules.dialects import dialect_of

_UPDATES = 2  # in all of which it happens


def discarded(situation: Situation) -> Iterator[Cause]:
    """One line differentiates several times for each step, and the step finds the last result only."""
    for optimizer in situation.evidence.optimizers.values():
        updates = situation.updates(optimizer)[1:]  # before the first step, recording may have begun late
        rounds = [_round(optimizer, update.backwards) for update in updates]
        if len(rounds) < _UPDATES or not all(rounds) or optimizer.searches:
            continue
        lost, clear = _lost(situation, optimizer, rounds[-1])
        if clear is not None:
            step = updates[-1].site
            yield _cause(situation, optimizer, lost, len(rounds[-1]), clear, Step.at(step, _step(situation)))


def _round(optimizer: Optimizer, backwards: tuple[Backward, ...]) -> tuple[Backward, ...]:
    """The calls of one line before a step, if the step used the last one of several."""
    mine = [b for b in backwards if b.reached & optimizer.held and not b.wanted and not b.error]
    if not mine:
        return ()
    same = tuple(b for b in mine if b.site == mine[-1].site)
    used = [bool((b.applied | b.taken) & optimizer.held) for b in same]
    return same if len(same) > 1 and used[-1] and not any(used[:-1]) else ()


def _lost(
    situation: Situation, optimizer: Optimizer, calls: tuple[Backward, ...]
) -> tuple[Backward, Clear | None]:
    """The last call that was for nothing, and what cleared its gradients."""
    lost, used = calls[-2:]
    between = [c for c in situation.evidence.clears if lost.time < c.time < used.time]
    return lost, next((c for c in between if c.parameters & optimizer.held & lost.reached), None)


def _cause(
    situation: Situation, optimizer: Optimizer, lost: Backward, calls: int, clear: Clear, step: Step
) -> Cause:
    here = dialect_of(situation.evidence.framework)
    return ZeroGradBeforeStep(
        site=clear.site,
        subjects=situation.parameters(lost.reached & optimizer.held),
        chain=(
            Step.at(lost.site, here.differentiate),
            Step.at(clear.site, "zero_grad()", mark=Mark.LOST),
            Step.at(lost.site, here.differentiate),
            step,
        ),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
        backward=lost.site,
        step=step.site,
        calls=calls,
    )


def _step(situation: Situation) -> str:
    return dialect_of(situation.evidence.framework).step
