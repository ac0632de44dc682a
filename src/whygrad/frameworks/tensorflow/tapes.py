"""Gradient tapes: when each of them was recording, and what it was told to watch."""

from __future__ import annotations

import threading
import weakref
from itertools import count
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Gate, clock
from whygrad.frameworks.tensorflow.values import Value

_serial = count(1).__next__
_graphs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def graph_number(graph: Any) -> int:
    """A number for a graph that no other one gets."""
    number = _graphs.get(graph)
    if number is None:
        number = _graphs[graph] = _serial()
    return number


def current_graph() -> Any:
    """The graph that is being traced; nothing in eager code."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def outermost(graph: Any) -> Any:
    """The graph that eager code calls: of the function around functions, conditions and loops."""
    while hasattr(getattr(graph, "outer_graph", None), "captures"):
        graph = graph.outer_graph
    return graph


class Tape:
    """One ``GradientTape``, as long as it is not reset."""

    def __init__(self, where: Where | None, watches_all: bool) -> None:
        self.serial = _serial()
        self.where = where
        self.watches_all = watches_all
        self.handles: set[int] = set()  # variables that it was told to watch
        self.values: set[Value] = set()  # tensors that it was told to watch
        self.spans: dict[int, list[list[int | None]]] = {}  # graph -> from operation, to operation
        self.opened = clock()
        self.closed = 0
        self.asked: Where | None = None
        self._gates: dict[str, Gate] = {}

    def begin(self, graph: Any) -> None:
        """It records from now on."""
        self.closed = 0
        if graph is not None:
            place = len(graph.get_operations())
            self.spans.setdefault(graph_number(graph), []).append([place, None])

    def end(self, graph: Any) -> None:
        """It no longer records."""
        self.closed = clock()
        spans = self.spans.get(graph_number(graph)) if graph is not None else None
        if spans and spans[-1][1] is None:
            spans[-1][1] = len(graph.get_operations())

    def saw(self, value: Value) -> bool:
        """Was this tape recording when the value was made?"""
        while value.owner is not None:
            value = value.owner
        if not value.graph:
            return self.serial in value.tapes
        spans = self.spans.get(value.graph)
        if spans is None:
            return False
        return any(_in(value.index, start, end) for start, end in spans)

    def gate(self, value: Value) -> Gate | None:
        """Why this tape did not see the value being made."""
        while value.owner is not None:
            value = value.owner
        spans = self.spans.get(value.graph) if value.graph else None
        if value.graph:  # an operation of another graph is one of an outer graph: it was there before
            before = not spans or value.index < (spans[0][0] or 0)
            end = spans[-1][1] if spans else None
            late = end is not None and value.index >= end
        else:
            before, late = value.time < self.opened, bool(self.closed) and value.time > self.closed
        kind = "before" if before else "after" if late else "paused"
        return self._gate(kind)

    def unwatched(self) -> Gate | None:
        """It was recording, and was not told to watch."""
        return self._gate("unwatched")

    def _gate(self, kind: str) -> Gate | None:
        if self.where is None:
            return None
        if kind not in self._gates:
            self._gates[kind] = Gate(kind, self.where, tape=True)
        return self._gates[kind]


def _in(index: int, start: int | None, end: int | None) -> bool:
    return (start is None or index >= start) and (end is None or index < end)


class Tapes:
    """All tapes, and which of them record in this thread."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, Tape] = weakref.WeakKeyDictionary()
        self._thread = _Thread()

    @property
    def open(self) -> tuple[int, ...]:
        """The tapes that record eager operations of this thread now."""
        return self._thread.open

    def get(self, tape: Any) -> Tape | None:
        """What is known of a tape."""
        return self._known.get(tape)

    def entered(self, tape: Any, where: Where | None) -> None:
        """``with tf.GradientTape() as tape``, for the first time or again."""
        known = self._known.get(tape)
        if known is None:
            known = self._known[tape] = Tape(where, bool(getattr(tape, "_watch_accessed_variables", True)))
        self.resumed(tape)

    def left(self, tape: Any) -> None:
        """The block is over, or recording was stopped."""
        known = self._known.get(tape)
        if known is not None:
            known.end(current_graph())
            self._thread.open = tuple(s for s in self._thread.open if s != known.serial)

    def resumed(self, tape: Any) -> None:
        """It records again."""
        known = self._known.get(tape)
        if known is not None:
            graph = current_graph()
            known.begin(graph)
            if graph is None and known.serial not in self._thread.open:
                self._thread.open = (*self._thread.open, known.serial)

    def reset(self, tape: Any, where: Where | None) -> None:
        """It has forgotten everything: another tape from now on."""
        self.left(tape)
        self._known.pop(tape, None)
        self.entered(tape, where)


class _Thread(threading.local):
    open: tuple[int, ...] = ()
