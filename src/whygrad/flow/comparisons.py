"""Where a prediction is compared with its target: in a loss function, or in a difference that is squared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.flow.paths import ancestors
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import REDUCTIONS, SAME_NUMBERS, SCALES

_NEAR = 6  # operations between a difference and its square
_TOGETHER = frozenset((Kind.JOIN, Kind.RESHAPE, Kind.EXPAND))
_ELEMENTS = frozenset((Kind.PICK, Kind.CHOOSE, Kind.WHERE))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What gradient flows to, and what it is pulled towards."""

    prediction: Op
    target: Op


class Comparisons:
    """The comparisons in one flow; ``living`` are the values that gradient arrives at.

    ``wanted`` are the parameters that a tape is asked for: a target that is computed under it carries
    gradient, too, and nobody asks for that.
    """

    def __init__(self, flow: Flow, living: set[int], wanted: frozenset[int] = frozenset()) -> None:
        self._flow = flow
        self._living = living
        self._wanted = wanted
        self._users: dict[int, list[Op]] = {}
        for op in flow.ops.values():
            for i in dict.fromkeys(op.inputs):
                self._users.setdefault(i, []).append(op)

    def compares(self, op: Op) -> bool:
        """Is this a loss function, or a difference that is squared?"""
        return len(op.inputs) >= 2 and (op.kind is Kind.LOSS or self._squared(op))

    def at(self, op: Op) -> Comparison | None:
        """What this operation compares: a value that is trained and one that is not."""
        if not self.compares(op):
            return None
        sides = [self._flow[i] for i in op.inputs[:2]]
        trained = [side for side in sides if side.id in self._living and side.carries]
        if len(trained) > 1 and self._wanted:
            trained = [side for side in trained if self._is_wanted(side)]
        if len(trained) != 1 or self._related(*sides) or self._ranked(op):
            return None
        return Comparison(trained[0], sides[sides[0] is trained[0]])

    def _is_wanted(self, side: Op) -> bool:
        behind = ancestors(self._flow, side.id)
        return any(self._flow[i].parameter in self._wanted for i in behind if self._flow[i].parameter)

    def chosen(self, op: Op) -> bool:
        """Is a part of the result taken before it is summed up: by a mask, an index, a condition?"""
        return any(self._takes_part(here, user) for here, user in self._until_reduced(op))

    def _takes_part(self, here: Op, user: Op) -> bool:
        if user.kind is not Kind.MULTIPLY:
            return user.kind in _ELEMENTS
        others = [self._flow[i] for i in user.inputs if i != here.id]
        return any(o.shape[-1:] not in ((), (1,)) for o in others)

    def _until_reduced(self, op: Op) -> Iterator[tuple[Op, Op]]:
        """A value and who uses it, from here up to the first mean or sum."""
        todo, seen = [op], {op.id}
        while todo:
            here = todo.pop()
            for user in self._users.get(here.id, ()):
                yield here, user
                if user.kind not in REDUCTIONS and user.id not in seen and len(seen) < 50:
                    seen.add(user.id)
                    todo.append(user)

    def _squared(self, op: Op) -> bool:
        """A difference of the user's own that ends in a square, a distance or a loss function."""
        if op.kind is not Kind.SUBTRACT or op.api:
            return False
        here = op
        for _ in range(_NEAR):
            users = [u for u in self._users.get(here.id, ()) if u.carries and u.id in self._living]
            if any(_squares(user) for user in users):
                return True
            onwards = [u for u in users if u.kind in SAME_NUMBERS | {Kind.NEGATE} or _by_a_number(u)]
            if not onwards:
                return False
            here = onwards[0]
        return False

    def _related(self, one: Op, two: Op) -> bool:
        """``x - x.mean()``: both come from one forward pass, so neither is the target of the other."""
        shared = ancestors(self._flow, one.id) & ancestors(self._flow, two.id)
        return any(self._flow[i].carries and self._flow[i].inputs for i in shared)

    def _ranked(self, op: Op) -> bool:
        """``u < 0``: quantile regression asks on which side of each target a prediction lies."""
        todo = [op.id]
        for _ in range(_NEAR):
            users = [u for i in todo for u in self._users.get(i, ())]
            if any(not u.floating and u.inputs for u in users):
                return True
            todo = [u.id for u in users if u.kind in SAME_NUMBERS | {Kind.STOP, Kind.NEGATE}]
        return False


def _squares(op: Op) -> bool:
    if op.kind in (Kind.MAGNITUDE, Kind.LOSS):
        return True
    if op.kind is Kind.POWER:
        return not op.swapped and op.numbers[-1:] == (2.0,)
    return op.kind is Kind.MULTIPLY and len(op.inputs) == 2 and op.inputs[0] == op.inputs[1]


def _by_a_number(op: Op) -> bool:
    return op.kind in SCALES and len(op.inputs) == 1 and not op.swapped


def asked(flow: Flow, op: Op) -> bool:
    """Did a network compute this, and not a parameter alone?"""
    return any(flow[i].kind is Kind.LINEAR for i in ancestors(flow, op.id))


def put_together(flow: Flow, op: Op, kinds: frozenset[Kind] = _TOGETHER) -> bool:
    """Are its columns several values that were stacked, or steps in time: not the outputs of one layer?"""
    for _ in range(_NEAR):
        if op.kind in kinds or _without_last_axis(flow, op):
            return True
        if op.kind not in SAME_NUMBERS or not op.inputs:
            return False
        op = flow[op.inputs[0]]
    return False


def _without_last_axis(flow: Flow, op: Op) -> bool:
    """``values[..., 0]`` of (N, T, 1): one number for each of several steps."""
    return op.kind is Kind.PICK and bool(op.inputs) and flow[op.inputs[0]].shape == (*op.shape, 1)
