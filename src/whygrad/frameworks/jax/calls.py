"""Functions that JAX compiles: what is differentiated and stepped in them happens with every call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from whygrad.frameworks.shared.records import BackwardRecord, OptimizerRecord, UpdateRecord


@dataclass(slots=True, eq=False)
class Content:
    """What happens in one call of a function."""

    steps: dict[OptimizerRecord, int] = field(default_factory=dict)
    backwards: dict[BackwardRecord, int] = field(default_factory=dict)

    def add(self, other: Content) -> None:
        """It calls another one."""
        for record, times in other.steps.items():
            self.steps[record] = self.steps.get(record, 0) + times
        self.backwards.update(other.backwards)

    def __bool__(self) -> bool:
        return bool(self.steps or self.backwards)


class Calls:
    """The content of each function that was traced."""

    def __init__(self) -> None:
        self._open: list[Content] = []
        self._known: dict[Any, Content] = {}  # by jaxpr
        self.on_traced: Callable[[Any], None] = lambda jaxpr: None

    def begin(self) -> None:
        """A function is about to be traced."""
        self._open.append(Content())

    def end(self, jaxpr: Any) -> None:
        """It was traced; nothing if that has failed."""
        content = self._open.pop()
        if jaxpr is not None and content:
            self._known[jaxpr] = content
            self.on_traced(jaxpr)

    def steps(self, record: OptimizerRecord, update: UpdateRecord, times: int) -> None:
        """A step is made in it, so often with each call."""
        if self._open:
            held = self._open[-1].steps
            held[record] = held.get(record, 0) + times

    def differentiates(self, record: BackwardRecord, times: int) -> None:
        """Something is differentiated in it."""
        if self._open:
            record.runs = 0
            self._open[-1].backwards[record] = times

    def of(self, jaxpr: Any) -> Content | None:
        """What happens in a call of this function."""
        return self._known.get(jaxpr)

    def nested(self, jaxpr: Any) -> None:
        """A function that is being traced calls this one."""
        content = self._known.get(jaxpr)
        if content is not None and self._open:
            self._open[-1].add(content)
