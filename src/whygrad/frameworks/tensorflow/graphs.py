"""Traced code: all graphs that were read, and what is known of their tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from whygrad.frameworks.shared.frames import Where, told
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.tensorflow import private, vocabulary
from whygrad.frameworks.tensorflow.graph_reading import Body, Handle, Key, called_by, key_of
from whygrad.frameworks.tensorflow.masks import count_ones, holds_more, looks_inverted
from whygrad.frameworks.tensorflow.values import Value
from whygrad.frameworks.tensorflow.variables import Variables


class Graphs:
    """All graphs that were read."""

    def __init__(self, variables: Variables, eager: Callable[[Any], Node]) -> None:
        self.variables = variables
        self._eager = eager
        self._bodies: weakref.WeakKeyDictionary[Any, Body] = weakref.WeakKeyDictionary()
        self._places: dict[tuple[Any, ...], Where | None] = {}
        self._gradients: weakref.WeakKeyDictionary[Any, dict[Key, Node]] = weakref.WeakKeyDictionary()
        self._writing: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self.modes: weakref.WeakKeyDictionary[Any, dict[Key, bool]] = weakref.WeakKeyDictionary()
        self._optimizing: weakref.WeakKeyDictionary[Any, list[tuple[int, int]]] = weakref.WeakKeyDictionary()

    def body(self, graph: Any) -> Body:
        """The operations of a graph itself."""
        body = self._bodies.get(graph)
        if body is None:
            body = self._bodies[graph] = Body(self, graph, {}, None, 0)
        body._captures = {key_of(inner): outer for outer, inner in graph.captures}
        return body

    def node(self, tensor: Any) -> Node:
        """The value of a tensor in traced code."""
        return self.body(tensor.graph).node(tensor)

    def outside(self, tensor: Any) -> Node:
        """A tensor that a graph captured: of an outer graph, or of eager code."""
        if is_a(tensor, private.EAGER_TENSOR):
            return self._eager(tensor)
        return self.node(tensor)

    def handle(self, tensor: Any) -> int:
        """The eager handle of a captured resource."""
        if is_a(tensor, private.EAGER_TENSOR):
            return private.identity(tensor)
        return self.body(tensor.graph).handle(tensor)

    def put(self, tensor: Any, value: Value) -> None:
        """From now on ``tensor`` is the value ``value``: a gradient, perhaps clipped."""
        self.body(tensor.graph).values[key_of(tensor)] = value
        self._gradients.setdefault(tensor.graph, {})[key_of(tensor)] = value

    def gradients(self, graph: Any) -> dict[Key, Node]:
        """What is known as a gradient in a graph, whoever calls it."""
        return self._gradients.get(graph, {})

    def mode(self, graph: Any, key: Key) -> bool | None:
        """The mode of the layer with modes that gave this tensor, if one did."""
        known = self.modes.get(graph)
        return known.get(key) if known else None

    def call(self, graph: Any, feeds: list[Any], owner: Value) -> list[Node]:
        """The results of a traced function that eager code calls with these tensors."""
        nodes = [self._handle_or_value(t) for t in feeds]
        return Body(self, graph, {}, owner, 0).enter(graph, nodes, owner)

    def optimizing(self, graph: Any, start: int) -> None:
        """These operations, from ``start`` to the last one, are an optimizer's own."""
        self._optimizing.setdefault(graph, []).append((start, len(graph.get_operations())))

    def is_optimizers(self, graph: Any, op: Any) -> bool:
        """Does this operation belong to an optimizer?"""
        spans = self._optimizing.get(graph)
        if not spans:
            return False
        index = self.body(graph).index(op)
        return any(start <= index < end for start, end in spans)

    def writes(self, graph: Any, feeds: list[Any]) -> list[tuple[int, str, Value]]:
        """What a function that is called with these assigns to variables outside of optimizers."""
        if not self.has_writes(graph):
            return []
        nodes = [self._handle_or_value(t) for t in feeds]
        given = {key_of(t): f for t, f in zip(graph.inputs, nodes, strict=False)}
        return list(Body(self, graph, given, Value("call", (), None, True), 0).writes())

    def fed(self, graph: Any, feeds: list[Any]) -> None:
        """A function is called with these: look at masks that are made of its arguments."""
        body = self._bodies.get(graph)
        for symbol, tensor in zip(graph.inputs, feeds, strict=False) if body is not None else ():
            argument = body.values.get(key_of(symbol)) if body is not None else None
            if not isinstance(argument, Value) or not (argument.masks or argument.factor):
                continue
            count_ones(argument, tensor)
            if argument.masks and holds_more(tensor):
                for mask in argument.masks:
                    mask.odd = True
            if argument.factor and looks_inverted(tensor):
                argument.odd = True

    def has_writes(self, graph: Any) -> bool:
        """Is there anything to look for, in it or in what it calls?"""
        known = self._writing.get(graph)
        if known is None:
            known = False
            for op in graph.get_operations():
                written = op.type in vocabulary.WRITES and not self.is_optimizers(graph, op)
                inner = (private.function_graph(graph, name) for name in called_by(op))
                known = known or written or any(self.has_writes(g) for g in inner if g is not None)
            self._writing[graph] = known
        return known

    def _handle_or_value(self, tensor: Any) -> Node:
        return Handle(private.identity(tensor)) if tensor.dtype.name == "resource" else self._eager(tensor)

    def place(self, op: Any) -> Where | None:
        """The user's line that made an operation."""
        frames = tuple((f.filename, f.lineno, f.name) for f in reversed(op.traceback))
        if frames not in self._places:
            self._places[frames] = told(frames)
        return self._places[frames]
