"""Groups of rewards: data minus the mean of its own group, and whether there is any spread in the groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from whygrad.frameworks.shared.kinds import Kinds, is_swapped
from whygrad.frameworks.shared.nodes import Node
from whygrad.model import Kind
from whygrad.model.kinds import SAME_NUMBERS

MOST = 65536  # elements of a value that is looked at
_ROUNDING = 1e-6  # of a number: a reward model gives the same answer nearly the same reward
_NEAR = 8  # changes of shape between the rewards, their mean and their difference


@dataclass(frozen=True, slots=True)
class Grouping:
    """A value in groups: its shape when the mean was taken, and the dimensions of a group."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]


class Groups:
    """What was seen of groups since the last step: updates without any spread are worth a second look."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self.measured = self.empty = False

    def of(self, difference: Node) -> Grouping | None:
        """The groups in ``r - r.mean(1)``, also if the mean was taken in another shape."""
        if len(difference.inputs) != 2 or is_swapped(difference.name):
            return None
        if self._kinds.of(difference.name) is not Kind.SUBTRACT or not 1 < prod(difference.shape) <= MOST:
            return None
        value, mean = difference.inputs[0], self._same(difference.inputs[1])
        if self._kinds.of(mean.name, len(mean.inputs)) is not Kind.MEAN or not mean.inputs or not mean.axes:
            return None
        averaged = mean.inputs[0]
        if self._same(averaged) is not self._same(value) or prod(averaged.shape) != prod(difference.shape):
            return None
        alone = prod(averaged.shape[axis] for axis in mean.axes) < 2
        return None if alone else Grouping(averaged.shape, mean.axes)

    def note(self, difference: Node, least: Sequence[float], most: Sequence[float]) -> None:
        """The extremes of each group: how many of them have no spread? NaN is none of those."""
        pairs = list(zip(least, most, strict=True))
        empty = sum(high - low <= _ROUNDING * max(abs(low), abs(high)) for low, high in pairs)
        difference.groups = (empty, len(pairs))
        self.measured, self.empty = True, self.empty or 2 * empty > len(pairs)

    def doubt(self, before: bool) -> bool:
        """An update is over: is the next one worth a second look? As ``before``, if there were no groups."""
        found = self.empty if self.measured else before
        self.measured = self.empty = False
        return found

    def _same(self, node: Node) -> Node:
        """The value that holds these numbers in the same order, before it was given another shape."""
        for _ in range(_NEAR):
            kind = self._kinds.of(node.name, len(node.inputs))
            moved = kind is Kind.RESHAPE and bool(node.axes)  # transposed
            if node.fresh or not node.inputs or kind not in SAME_NUMBERS or moved:
                break
            node = node.inputs[0]
        return node
