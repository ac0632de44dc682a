"""Temperatures that are trained: their loss is about a policy, and must not move it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.flow.paths import living_values
from whygrad.flow.scores import scored
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Kind, Mark, Op, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.clearing.polluted_gradient import PollutedGradient
from whygrad.rules.losses.judge_policies import from_observations
from whygrad.rules.losses.judge_signs import signed
from whygrad.rules.stepped import stepped


@dataclass(frozen=True, slots=True)
class _Leak:
    product: Op
    value: Op  # what stands beside the temperature, and carries gradient
    keys: frozenset[int]  # whom it moves
    temperature: frozenset[int]


def temperatures(situation: Situation) -> Iterator[Cause]:
    """``-(log_alpha * (log_prob + target_entropy)).mean()``, differentiated by the policy as well."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        if backward.error or not situation.whole(backward):
            continue
        for leak in _leaks(situation, backward):
            if leak.product.site not in done:
                done.add(leak.product.site)
                yield _cause(situation, backward, leak)


def _leaks(situation: Situation, backward: Backward) -> Iterator[_Leak]:
    for part in (p for root in backward.roots for p in signed(backward.flow, root)):
        if part.op.kind is not Kind.MULTIPLY or len(part.op.inputs) != 2:
            continue
        sides = [backward.flow[i] for i in part.op.inputs]
        for temperature, value in (sides, sides[::-1]):
            held = _living(backward, temperature.id)
            keys = (_living(backward, value.id) & backward.applied) - held
            if not held or not keys or from_observations(backward, temperature.id):
                continue
            if part.sign * _score_with_a_goal(situation, backward, value) < 0:
                yield _Leak(part.op, value, keys, held)


def _score_with_a_goal(situation: Situation, backward: Backward, value: Op) -> int:
    """The sign of a log-probability beside which a number stands, the entropy that is aimed at; else 0.

    A loss that is weighed by a learnt number has no such goal, and is meant to train both.
    """
    addends = situation.parts(backward).addends(value.id)
    scores = [a.sign for a in addends if not a.data and scored(backward.flow, a.op)]
    goal = any(a.data for a in addends)
    return scores[0] if goal and scores and len(set(scores)) == 1 else 0


def _living(backward: Backward, op: int) -> frozenset[int]:
    values = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in values if k is not None)


def _cause(situation: Situation, backward: Backward, leak: _Leak) -> Cause:
    known = situation.parameters(leak.temperature)
    return PollutedGradient(
        site=leak.product.site,
        chain=(
            Step.at(leak.product.site, "the temperature's loss", mark=Mark.LEAK),
            Step.at(backward.site, "backward"),
        ),
        confidence=Confidence.LIKELY,
        loss=leak.product.site,
        own=backward.site,
        temperature=known[0].name if known else "the temperature",
        **stepped(situation, leak.keys),
    )
