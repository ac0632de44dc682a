"""Log-probabilities of actions that nobody took."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import ancestors, is_draw
from whygrad.flow.scores import users_within, weighed_by_data
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Mark, Op, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.losses.value_sign import ValueSign
from whygrad.rules.stepped import stepped

_FEW = 4
_MANY = 16


def drawn_anew(situation: Situation) -> Iterator[Cause]:
    """A sample that only its log-probability is asked of, and a return that weighs it."""
    found: dict[Site | None, Cause] = {}
    other: set[Site | None] = set()
    for backward in situation.backwards:
        if not situation.whole(backward):
            continue
        for draw, score in _scores(situation, backward):
            if not draw.scored:
                other.add(score.site)
            elif score.site not in found and _acts_otherwise(backward, draw):
                found[score.site] = _cause(situation, backward, score)
    yield from (cause for site, cause in found.items() if site not in other)


def _scores(situation: Situation, backward: Backward) -> Iterator[tuple[Op, Op]]:
    """The draws behind the log-probabilities in a loss that data weighs; of each line a few."""
    flow, living = backward.flow, situation.living(backward)
    users = users_within(flow, living)
    tried: dict[Site | None, int] = {}
    for number in sorted(living):
        op = flow[number]
        drawn = [
            d for i in op.inputs if op.api.endswith("log_prob") and (d := _draw(backward, i)) is not None
        ]
        if not drawn or tried.get(op.site, 0) >= _FEW:
            continue
        tried[op.site] = tried.get(op.site, 0) + 1
        if weighed_by_data(flow, op, users):
            yield drawn[0], op


def _draw(backward: Backward, number: int) -> Op | None:
    """The sample that this value is, drawn where gradient could be asked for; not one that was kept."""
    for _ in range(6):
        op = backward.flow[number]
        if is_draw(op):
            return op if not op.carries and op.block is None else None
        if not op.api.endswith("log_prob") or len(op.inputs) != 1:
            return None
        number = op.inputs[0]
    return None


def _acts_otherwise(backward: Backward, draw: Op) -> bool:
    """Is there another draw from this policy, that something has become of?"""
    flow = backward.flow
    draws = [op for op in flow.ops.values() if is_draw(op)]
    inside = set[int]().union(*(ancestors(flow, op.id) for op in draws if op.scored))
    taken = [op.id for op in draws if op.id not in inside]
    own = _behind(backward, draw.id)
    return any(own & _behind(backward, number) for number in taken[:_MANY])


def _behind(backward: Backward, number: int) -> frozenset[int]:
    keys = (backward.flow[n].parameter for n in ancestors(backward.flow, number))
    return frozenset(key for key in keys if key is not None)


def _cause(situation: Situation, backward: Backward, score: Op) -> ValueSign:
    keys = _behind(backward, score.id)
    return ValueSign(
        site=score.site,
        chain=(Step.at(score.site, score.name, mark=Mark.HERE),),
        confidence=Confidence.LIKELY,
        loss=backward.flow[backward.roots[0]].site if backward.roots else None,
        other_draw=True,
        **stepped(situation, keys & backward.applied or keys),
    )
