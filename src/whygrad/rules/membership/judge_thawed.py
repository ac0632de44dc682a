"""Layers that were frozen, thawed later, and that no optimizer has ever been given."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Mark, Parameter, Step
from whygrad.rules.cause import Cause
from whygrad.rules.membership.not_in_optimizer import NotInOptimizer


def thawed(situation: Situation) -> Iterator[Cause]:
    """``filter(lambda p: p.requires_grad, ...)`` while it was frozen: the thaw came, and changed nothing."""
    if situation.cut_short:
        return
    known = situation.evidence.parameters.values()
    members = tuple(p for p in known if _was_frozen(situation, p))
    for backward in reversed(situation.backwards):
        mine = tuple(p for p in members if _on_the_way(situation, backward, p))
        if mine:
            yield _cause(situation, backward, mine)
            return


def _was_frozen(situation: Situation, parameter: Parameter) -> bool:
    """It could learn now, and has the values that it was made with."""
    moved = parameter.trained or parameter.loaded or parameter.moved or situation.is_copy(parameter.key)
    free = parameter.trainable and parameter.frozen_at is not None and parameter.used and parameter.alive
    return free and not moved and parameter.key not in situation.holders


def _on_the_way(situation: Situation, backward: Backward, parameter: Parameter) -> bool:
    """Was it frozen when this loss was computed, with layers behind it that the loss trains?"""
    path = situation.reach(backward).path(parameter.key)
    if path is None or path.ops[0].carries:
        return False
    behind = (backward.flow.parameter(i) for op in path.ops[1:] for i in op.inputs)
    return any(key in backward.applied for key in behind)


def _cause(situation: Situation, backward: Backward, members: tuple[Parameter, ...]) -> Cause:
    holding = [o for o in situation.evidence.optimizers.values() if o.held & backward.applied]
    made = holding[0].made if holding else None
    return NotInOptimizer(
        site=made or members[0].frozen_at,
        subjects=members,
        chain=(
            Step(members[0].name, members[0].made[0] if members[0].made else None),
            Step.at(members[0].frozen_at, "frozen"),
            Step.at(made, "the optimizer is made", mark=Mark.LOST),
        ),
        confidence=Confidence.LIKELY,
        optimizer=holding[0].name if holding else "",
        optimizers=tuple(o.name for o in holding),
        loss=backward.flow[backward.roots[0]].site,
        first_update=1,
        updates=holding[0].steps if holding else 0,
        thawed=True,
    )
