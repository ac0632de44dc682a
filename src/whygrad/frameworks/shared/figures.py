"""Figures of an update: how large its gradients were, which way they point, how far the step went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, sqrt
from typing import Any, Protocol

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.nodes import Node, Param, Table, cone
from whygrad.frameworks.shared.records import OptimizerRecord, UpdateRecord
from whygrad.model import Moved, Pulse, Values


class Numbers(Protocol):
    """What a framework is asked for: numbers out of its gradients and weights. Vectors are its own."""

    def largest(self, gradients: Mapping[int, Any]) -> dict[int, float]:
        """The largest element of each gradient; exactly 0 only if all of them are, NaN if one is."""

    def joined(self, gradients: Iterable[Any], most: int) -> Any:
        """The first elements of each gradient in one vector; nothing if they cannot be put into one."""

    def part(self, param: Param, most: int) -> Any:
        """A copy of the first elements of a weight; nothing if it has none."""

    def dot(self, one: Any, other: Any) -> float:
        """The product of two vectors."""

    def distance(self, one: Any, other: Any) -> float:
        """Between two vectors."""

    def length(self, vector: Any) -> float:
        """Of a vector."""

    def finite(self, param: Param) -> bool:
        """Are all elements of a weight finite? Yes, where that cannot be told."""


class Figures:
    """Looks at gradients and weights around a step."""

    def __init__(self, numbers: Numbers, attention: Attention) -> None:
        self._numbers, self._attention, self._budget = numbers, attention, attention.budget
        self.largest = numbers.largest
        self._before: tuple[UpdateRecord, dict[int, tuple[Param, Any]]] | None = None

    def pulse(self, record: OptimizerRecord, gradients: Mapping[int, Any]) -> bool:
        """The size of the gradients now and then; true when they are no longer finite."""
        return record.pulses.add(Pulse(record.steps + 1, self.largest(gradients)))

    def step_begins(
        self,
        record: OptimizerRecord,
        update: UpdateRecord,
        gradients: Iterable[Any],
        params: Iterable[Param],
        moving: bool,
    ) -> None:
        """Of an update that was just recorded. In a warm-up with a rate of zero, nothing is ``moving``."""
        if self._attention.compares(record):
            update.turned = self.turned(record, update.number, gradients)
        record.pulses.add(Pulse(update.number, update.largest))
        self._before = None
        if moving and self._attention.measures(record):
            kept = {p.key: (p, self._numbers.part(p, self._budget.motion)) for p in params}
            self._before = (update, {key: pair for key, pair in kept.items() if pair[1] is not None})

    def step_ends(self) -> None:
        """The step is done: how far did it go?"""
        if self._before is None:
            return
        update, kept = self._before
        self._before = None
        for key, (param, old) in kept.items():
            moved = self.moved(old, self._numbers.part(param, self._budget.motion))
            if moved is not None:
                update.moved[key] = moved

    def forget(self) -> None:
        """That cannot be told: the step was over before its weights were looked at."""
        self._before = None

    def moved(self, old: Any, now: Any) -> Moved | None:
        """From one part of a weight to another."""
        if old is None or now is None or old.shape != now.shape:
            return None
        return Moved(self._numbers.distance(now, old), self._numbers.length(old))

    def turned(self, record: OptimizerRecord, number: int, gradients: Iterable[Any]) -> float | None:
        """The cosine between the gradients of this update and those of the one before it."""
        now = self._numbers.joined(gradients, self._budget.direction)
        before, record.direction = record.direction, (number, now)
        if now is None or before is None or before[0] != number - 1:
            return None
        old = before[1]
        if old is None or old.shape != now.shape:
            return None
        dot, a, b = (self._numbers.dot(x, y) for x, y in ((old, now), (old, old), (now, now)))
        return dot / sqrt(a * b) if 0 < a < inf and 0 < b < inf else None

    def run_ends(self, record: OptimizerRecord) -> None:
        """What is left of the weights says what the last gradients were."""
        held = list(record.held.items())
        record.pulses.at_the_end(record.steps, [k for k, p in held if not self._numbers.finite(p)])


def look_back(table: Table, roots: Iterable[Node], values_of: Callable[[Any], Values | None]) -> None:
    """A loss is not finite: look at every value behind it that is still alive."""
    living = table.living()
    for node in cone(roots):
        if node in living and node.values is None:
            node.values = values_of(living[node])
