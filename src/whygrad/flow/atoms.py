"""Distributions in several dimensions: (batch, actions, atoms), and over which of them they sum up to 1."""

from __future__ import annotations

from whygrad.flow.uses import Uses
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import SAME_NUMBERS

_FAR = 8
_ALIKE = SAME_NUMBERS | {Kind.STOP, Kind.BOUND, Kind.LOG, Kind.ADD, Kind.MULTIPLY, Kind.PICK}


class Atoms:
    """What becomes of a softmax over one of several dimensions that a layer's outputs were split into."""

    def __init__(self, flow: Flow) -> None:
        self._flow, self._uses = flow, Uses(flow)

    def normalises_choices(self, op: Op) -> bool:
        """Is one element taken along the very dimension of the softmax, and the others are summed up?

        That is the dimension of the actions: those are chosen from, and the atoms of one action sum up to 1.
        """
        if len(op.shape) != 3 or len(op.axes) != 1 or not op.inputs:
            return False
        value, axis = self._restored(op, op.axes[0])
        if axis == 0 or not self._split(op):
            return False
        rest = (*value.shape[:axis], *value.shape[axis + 1 :])
        chosen = [u for u in self._uses.of(value) if _is_choice(u) and u.inputs[0] == value.id]
        return any(u.shape == rest and rest != value.shape[:-1] and self._summed(u) for u in chosen)

    def _restored(self, op: Op, axis: int) -> tuple[Op, int]:
        """A softmax works along the last dimension: another one is moved there, and back."""
        for user in self._uses.of(op):
            if user.kind is Kind.RESHAPE and len(user.axes) == len(user.shape) == 3:
                return user, user.axes.index(axis)
        return op, axis

    def _split(self, op: Op) -> bool:
        """Did it come from rows of numbers, which were given more dimensions then?"""
        here = self._flow[op.inputs[0]]
        for _ in range(_FAR):
            if here.kind is not Kind.RESHAPE or not here.inputs:
                return False
            here = self._flow[here.inputs[0]]
            if len(here.shape) == 2:
                return True
        return False

    def _summed(self, op: Op) -> bool:
        """Are the logarithms of the chosen ones, or they with weights, summed up along the last dimension?"""
        todo, seen, logs = [op], {op.id}, False
        while todo and len(seen) < 40:
            here = todo.pop()
            logs = logs or here.kind is Kind.LOG or (here.kind is Kind.MULTIPLY and len(here.inputs) == 2)
            for user in self._uses.of(here):
                if user.kind is Kind.SUM and user.axes == (len(here.shape) - 1,) and logs:
                    return True
                if user.kind in _ALIKE and user.id not in seen:
                    seen.add(user.id)
                    todo.append(user)
        return False


def _is_choice(op: Op) -> bool:
    """``gather``, or ``p[range(n), action]``: an index for each row."""
    return op.kind is Kind.CHOOSE or (op.kind is Kind.PICK and len(op.inputs) > 1)
