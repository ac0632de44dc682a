"""Losses made of rewards or of drawn actions, where a log-probability should stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from whygrad.flow.paths import Path, ancestors, is_draw
from whygrad.flow.scores import is_score
from whygrad.flow.situation import Situation
from whygrad.flow.terms import products, terms
from whygrad.model import Backward, Confidence, Kind, Mark, Op, Optimizer, Site, Step
from whygrad.model.kinds import SAME_NUMBERS
from whygrad.rules.cause import Cause
from whygrad.rules.losses.surrogate_missing import Made, SurrogateMissing
from whygrad.rules.paths.loss_independent import LossIndependent
from whygrad.rules.paths.nondifferentiable_op import NondifferentiableOp


def surrogates(situation: Situation, found: Iterable[Cause]) -> list[Cause]:
    """The same causes, under the name of what is missing where that is a surrogate loss."""
    return [_surrogate(situation, cause) or cause for cause in found]


def _surrogate(situation: Situation, cause: Cause) -> Cause | None:
    if not cause.subjects or not isinstance(cause, NondifferentiableOp | LossIndependent):
        return None
    key = cause.subjects[0].key
    for backward in situation.backwards:
        if not backward.roots or not situation.whole(backward) or _scored(backward, key):
            continue
        drawn = _drawn(situation, backward, key)
        rewards = isinstance(cause, LossIndependent) and _of_rewards(situation, backward, key)
        if (drawn is not None and isinstance(cause, NondifferentiableOp)) or rewards:
            return _renamed(cause, backward, drawn)
    return None


def constant_terms(situation: Situation) -> Iterator[Cause]:
    """Terms that are returns times returns: constants, where a log-probability was meant.

    ``-(rewards * advantage.detach()).mean()`` beside an entropy, which still moves the policy.
    """
    found: dict[Site | None, Cause] = {}
    other: set[Site | None] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if not backward.applied & optimizer.held or not situation.whole(backward):
                    continue
                for op in products(backward.flow, backward.roots):
                    made_of = _made_of(situation, backward, op)
                    if made_of is None:
                        other.add(op.site)
                    elif op.site not in found:
                        found[op.site] = _constant(situation, optimizer, backward, op, made_of)
    yield from (cause for site, cause in found.items() if site not in other)


def _made_of(situation: Situation, backward: Backward, op: Op) -> Made | None:
    """A constant product, row by row, with no log-probability in it: of what was it made?

    Data times what is left of a value that was cut off; or a drawn action times anything that is constant.
    """
    if op.kind is not Kind.MULTIPLY or op.carries or len(op.inputs) != 2 or prod(op.shape) < 2:
        return None
    flow = backward.flow
    cone = [flow[n] for n in ancestors(flow, op.id)]
    if any(is_score(o) or (o.kind is Kind.LOG and not o.fresh) for o in cone):
        return None
    if any(_is_drawn_action(backward, i) and flow[j].shape for i, j in (op.inputs, op.inputs[::-1])):
        return Made.ACTIONS
    behind = [bool(situation.parts(backward).behind(i)) for i in op.inputs]
    floating = all(flow[i].floating and flow[i].shape for i in op.inputs)
    return Made.REWARDS if floating and sorted(behind) == [False, True] else None


def _is_drawn_action(backward: Backward, number: int) -> bool:
    """A discrete action, perhaps as a floating number, drawn from what this loss trains."""
    flow = backward.flow
    op = flow[number]
    while op.kind in SAME_NUMBERS and op.inputs:
        op = flow[op.inputs[0]]
    if not is_draw(op) or _continuous(op):
        return False
    return any(flow[n].parameter in backward.applied for n in ancestors(flow, op.id))


def _constant(
    situation: Situation, optimizer: Optimizer, backward: Backward, op: Op, made_of: Made
) -> SurrogateMissing:
    return SurrogateMissing(
        site=op.site,
        subjects=situation.parameters(backward.applied & optimizer.held),
        chain=(Step.at(op.site, op.name, mark=Mark.HERE),),
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=op.site,
        masked=True,
        first_update=1,
        updates=optimizer.steps,
        made_of=made_of,
    )


def _scored(backward: Backward, key: int) -> bool:
    """Is there a log-probability of this network anywhere behind the loss?"""
    cone = set[int]().union(*(ancestors(backward.flow, root) for root in backward.roots))
    scores = [n for n in cone if is_score(backward.flow[n])]
    return any(
        backward.flow[n].parameter == key for score in scores[:32] for n in ancestors(backward.flow, score)
    )


def _drawn(situation: Situation, backward: Backward, key: int) -> Op | None:
    """A discrete action, drawn from this network, that goes into the loss and into no other network."""
    path = situation.reach(backward).path(key)
    if path is None or not path.cuts or path.through_data:
        return None
    cut = path.ops[path.cuts[0]]
    if not is_draw(cut) or _continuous(cut) or _enters_a_network(backward, path):
        return None
    return cut


def _continuous(op: Op) -> bool:
    return op.api.startswith(("Normal", "Uniform", "Beta", "Gamma", "Laplace", "LogNormal", "Multivariate"))


def _enters_a_network(backward: Backward, path: Path) -> bool:
    after = path.ops[path.cuts[0] + 1 :]
    return any(backward.flow.parameter(i) is not None for op in after for i in op.inputs)


def _of_rewards(situation: Situation, backward: Backward, key: int) -> bool:
    """Actions of this network left for the environment, and a term of the loss is nothing but data."""
    if backward.unused:
        return False  # another loss was there
    parts = situation.parts(backward)
    data = [t for root in backward.roots for t in terms(backward.flow, root) if not parts.behind(t.op.id)]
    if not any(t.op.fresh and t.op.floating for t in data):
        return False
    for number in backward.exits:
        cone = [backward.flow[n] for n in ancestors(backward.flow, number)]
        if any(is_draw(op) for op in cone) and any(op.parameter == key for op in cone):
            return True
    return False


def _renamed(cause: Cause, backward: Backward, drawn: Op | None) -> Cause:
    site = backward.flow[backward.roots[0]].site or cause.site
    steps = (Step.at(drawn.site, drawn.name, mark=Mark.CUT),) if drawn is not None and drawn.site else ()
    return SurrogateMissing(
        site=site,
        subjects=cause.subjects,
        chain=(*steps, Step.at(site, "the loss", mark=Mark.HERE)),
        optimizer=cause.optimizer,
        loss=site,
        first_update=cause.first_update,
        updates=cause.updates,
        made_of=Made.REWARDS if drawn is None else Made.ACTIONS,
    )
