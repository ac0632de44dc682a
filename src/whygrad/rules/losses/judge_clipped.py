"""Clips that stand where they take the gradient away: of a ratio, and of an error before it is squared."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.few import few_per_line
from whygrad.flow.paths import living_values
from whygrad.flow.ratios import ratio
from whygrad.flow.scores import users_within
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Note, Op, Optimizer, Severity, Site, Step
from whygrad.model.kinds import EXTREMES, SAME_NUMBERS
from whygrad.rules.cause import Cause
from whygrad.rules.losses.judge_signs import Signed, signed
from whygrad.rules.losses.value_sign import ValueSign
from whygrad.rules.words import place

_NEAR = 6
_SQUARES = frozenset((Kind.POWER, Kind.MAGNITUDE, Kind.LOSS, Kind.MULTIPLY))


def optimistic(situation: Situation) -> Iterator[Cause]:
    """Of ratio and clipped ratio the one is taken that makes the loss smaller: nothing is held back."""
    done: set[Site | None] = set()
    for optimizer, backward in _losses(situation):
        flow = backward.flow
        for op in few_per_line(flow[n] for n in sorted(situation.living(backward))):
            if op.site in done or not _is_of_two_ratios(flow, op):
                continue
            signs = {part.sign for root in backward.roots for part in _to(flow, root, op)}
            if signs == {1 if op.kind is Kind.SMALLER else -1}:
                done.add(op.site)
                yield _cause(situation, optimizer, backward, op)


def clipped_away(situation: Situation) -> Iterator[Note]:
    """What is beyond the bounds gets no gradient: right only if that is meant."""
    told: set[Site | None] = set()
    for _, backward in _losses(situation):
        flow, living = backward.flow, situation.living(backward)
        users = users_within(flow, living)
        for op in few_per_line(flow[n] for n in sorted(living)):
            if op.kind is not Kind.BOUND or op.site in told or not op.inputs:
                continue
            inner = _plain(flow, flow[op.inputs[0]], bounds=True)
            if any(u.kind is not Kind.BOUND for u in _onwards(users, inner)):
                continue
            after = _onwards(users, op)
            if not after or any(_is_one_of_two(users, u) for u in after):
                continue
            text = ""
            if ratio(flow, inner) and all(u.kind is Kind.MULTIPLY for u in after):
                text = "a sample whose ratio is beyond the bounds gets no gradient, whichever way it went"
            elif _is_error(flow, inner) and all(_is_square(u, op) for u in after):
                text = "an error beyond the bounds gets no gradient, where it should get the most"
            if text:
                told.add(op.site)
                yield Note(f"at {place(op.site)} {text}: wrong if that is not meant", op.site, "doubt")


def _losses(situation: Situation) -> Iterator[tuple[Optimizer, Backward]]:
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer) if optimizer.descends else ():
            for backward in update.backwards:
                if backward.applied & optimizer.held and situation.whole(backward) and not backward.error:
                    yield optimizer, backward


def _to(flow: Flow, root: int, op: Op) -> Iterator[Signed]:
    """The sign with which a value enters a loss."""
    for part in signed(flow, root, frozenset((op.id,))):
        if part.op.id == op.id:
            yield part


def _is_of_two_ratios(flow: Flow, op: Op) -> bool:
    """``min(ratio * advantage, clipped_ratio * advantage)``, with whatever signs inside."""
    if op.kind not in (Kind.SMALLER, Kind.LARGER) or len(op.inputs) != 2:
        return False
    live = [_weighed(flow, flow[i]) for i in op.inputs]
    bounded = [one is not None and one.kind is Kind.BOUND for one in live]
    return sorted(bounded) == [False, True] and all(
        one is not None and ratio(flow, _plain(flow, one, bounds=True)) for one in live
    )


def _weighed(flow: Flow, op: Op) -> Op | None:
    """The ratio of a product of ratio and advantage."""
    weighed = False
    for _ in range(_NEAR):
        if op.kind not in SAME_NUMBERS | {Kind.NEGATE, Kind.MULTIPLY}:
            break
        live = [flow[i] for i in op.inputs if flow[i].carries]
        if len(live) != 1:
            return None
        weighed = weighed or len(op.inputs) == 2
        op = live[0]
    return op if weighed else None


def _plain(flow: Flow, op: Op, bounds: bool = False) -> Op:
    for _ in range(_NEAR):
        if not op.inputs or op.kind not in SAME_NUMBERS | ({Kind.BOUND} if bounds else frozenset()):
            break
        op = flow[op.inputs[0]]
    return op


def _onwards(users: dict[int, list[Op]], op: Op) -> list[Op]:
    """Who does something with a value, whatever its shape is by then."""
    found: list[Op] = []
    todo, seen = [op.id], {op.id}
    while todo:
        for user in users.get(todo.pop(), ()):
            if user.kind in SAME_NUMBERS and user.id not in seen:
                seen.add(user.id)
                todo.append(user.id)
            elif user.kind not in SAME_NUMBERS:
                found.append(user)
    return found


def _is_one_of_two(users: dict[int, list[Op]], op: Op) -> bool:
    """Is the smaller or larger of this and something else taken, now or after a factor?"""
    todo, seen = [op], {op.id}
    while todo:
        for user in _onwards(users, todo.pop()):
            if user.kind in EXTREMES or user.kind is Kind.WHERE:
                return True
            if user.kind in (Kind.MULTIPLY, Kind.NEGATE) and user.id not in seen:
                seen.add(user.id)
                todo.append(user)
    return False


def _is_error(flow: Flow, op: Op) -> bool:
    """Prediction minus target."""
    return op.kind is Kind.SUBTRACT and len(op.inputs) == 2 and sum(flow[i].carries for i in op.inputs) == 1


def _is_square(op: Op, of: Op) -> bool:
    if op.kind is Kind.MULTIPLY:
        return op.inputs == (of.id, of.id)
    return op.kind in _SQUARES and not op.swapped


def _cause(situation: Situation, optimizer: Optimizer, backward: Backward, op: Op) -> ValueSign:
    keys = {backward.flow[n].parameter for n in living_values(backward.flow, [op.id])}
    return ValueSign(
        site=op.site,
        subjects=situation.parameters(backward.applied & optimizer.held & keys),
        chain=(Step.at(op.site, op.name, mark=Mark.HERE),),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=backward.flow[backward.roots[0]].site,
        first_update=1,
        updates=optimizer.steps,
        turned="clip",
    )
