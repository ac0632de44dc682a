"""One reading of a traced graph: from its operations to values, through calls, conditions and loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import tensorflow as tf

from whygrad.flow.source import leaving_line
from whygrad.frameworks.shared.frames import Told, Where
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.tensorflow import private, vocabulary
from whygrad.frameworks.tensorflow.axes import axes_of
from whygrad.frameworks.tensorflow.masks import is_mask, is_weighed, note_factors, note_mask
from whygrad.frameworks.tensorflow.tapes import graph_number
from whygrad.frameworks.tensorflow.values import Value, number_in
from whygrad.frameworks.tensorflow.variables import Variables

_MOST = 20_000  # operations of one body
_DEEP = 12
_CONDITIONS = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))
Key = tuple[str, int]


class _Graphs(Protocol):
    """All graphs that were read."""

    variables: Variables

    def outside(self, tensor: Any) -> Node: ...

    def handle(self, tensor: Any) -> int: ...

    def gradients(self, graph: Any) -> dict[Key, Node]: ...

    def place(self, op: Any) -> Where | None: ...

    def mode(self, graph: Any, key: Key) -> bool | None: ...

    def is_optimizers(self, graph: Any, op: Any) -> bool: ...

    def has_writes(self, graph: Any) -> bool: ...


class Body:
    """One reading of a graph: its own operations, or those of one call of a function."""

    def __init__(
        self, graphs: _Graphs, graph: Any, feeds: dict[Key, Node], owner: Value | None, depth: int
    ) -> None:
        self._graphs = graphs
        self.graph = graph
        self.number = graph_number(graph)
        self.values: dict[Key, Node] = {**graphs.gradients(graph), **feeds}
        self._owner = owner
        self._depth = depth
        self._order: dict[str, int] = {}
        self._writes: dict[int, list[Any]] | None = None
        self._captures = {key_of(inner): outer for outer, inner in graph.captures} if owner is None else {}

    def node(self, tensor: Any) -> Node:
        """The value of a tensor of this graph; operations first that it was computed from, as they run."""
        todo = [tensor]
        while todo:
            here = todo[-1]
            if key_of(here) in self.values:
                todo.pop()
                continue
            missing = [t for t in here.op.inputs if key_of(t) not in self.values and not self._is_variable(t)]
            if missing and len(self.values) < _MOST:
                todo.extend(sorted(missing, key=lambda t: self.index(t.op), reverse=True))  # the first on top
                continue
            todo.pop()
            self._operation(here.op)
        return self.values[key_of(tensor)]

    def _is_variable(self, tensor: Any) -> bool:
        return tensor.dtype.name == "resource"

    def _operation(self, op: Any) -> None:
        if op.type == "Placeholder":
            self.values[(op.name, 0)] = self._placeholder(op)
        elif op.type in vocabulary.CALLS:
            self._many(op, self._called(op, op.get_attr("f").name, op.inputs, self._value(op)))
        elif op.type in _CONDITIONS:
            self._branches(op, called_by(op))
        elif op.type in ("While", "StatelessWhile"):
            self._loop(op)
        else:
            self._plain(op)

    def _placeholder(self, op: Any) -> Node:
        """What was captured from outside, or an argument of the function."""
        outer = self._captures.get((op.name, 0))
        if outer is not None:
            return self._graphs.outside(outer)
        argument = Value("argument", (), None, False)
        argument.describe(op.outputs[0])
        argument.fresh = True
        return argument

    def _plain(self, op: Any) -> None:
        inputs, axes = self._inputs(op), axes_of(op.type, op.inputs, tf.get_static_value)
        exit_at = _leaves_at(self._graphs.place(op)) if op.type == "EagerPyFunc" else None
        for index, tensor in enumerate(op.outputs):
            value = self._value(op, inputs, vocabulary.passes(op.type, tensor.dtype))
            value.arithmetic()
            value.axes, value.training = axes, self._graphs.mode(self.graph, (op.name, index))
            if is_mask(value):
                note_mask(value)
            elif is_weighed(value):
                note_factors(value)
            if op.type == "Const" and tensor.shape.rank == 0:
                value.number = number_in(tf.get_static_value(tensor))
            if exit_at is not None:
                value.left, value.carries, value.where, value.name = True, False, exit_at, "numpy"
            value.describe(tensor)
            self.values[(op.name, index)] = value

    def _inputs(self, op: Any) -> tuple[Node, ...]:
        found: list[Node] = []
        for tensor in op.inputs:
            if self._is_variable(tensor):
                handle = self.handle(tensor)
                if handle:
                    found.append(self._graphs.variables.node(handle))
                    found += self._written(handle, op)
            elif key_of(tensor) in self.values:
                found.append(self.values[key_of(tensor)])
        return tuple(found)

    def _value(self, op: Any, inputs: tuple[Node, ...] = (), passes: bool = True) -> Value:
        value = Value(vocabulary.name_of(op.type), inputs, self._graphs.place(op), passes)
        value.graph, value.index, value.owner = self.number, self.index(op), self._owner
        value.left = op.type in vocabulary.LEAVES
        return value

    def index(self, op: Any) -> int:
        """The place of an operation in its graph."""
        if op.name not in self._order:
            self._order = {o.name: i for i, o in enumerate(self.graph.get_operations())}
        return self._order.get(op.name, 0)

    # -- variables ---------------------------------------------------------------------------------

    def handle(self, tensor: Any) -> int:
        """The eager handle behind a resource of this graph, through captures; 0 if it cannot be told."""
        known = self.values.get(key_of(tensor))
        if isinstance(known, Handle):
            return known.handle
        outer = self._captures.get(key_of(tensor))
        if outer is None:
            return 0
        return self._graphs.handle(outer)

    def _written(self, handle: int, op: Any) -> list[Node]:
        """The last ``assign`` before this operation, in the same graph."""
        if self._writes is None:
            self._writes = {}
            for write in self.graph.get_operations():
                if write.type in vocabulary.WRITES:
                    self._writes.setdefault(self.handle(write.inputs[0]), []).append(write)
        earlier = [w for w in self._writes.get(handle, ()) if self.index(w) < self.index(op)]
        if (
            not earlier
            or op.type not in vocabulary.READS
            or self._graphs.is_optimizers(self.graph, earlier[-1])
        ):
            return []
        return [self.write(earlier[-1])]

    def write(self, op: Any) -> Value:
        """An ``assign`` as a value, from what is assigned."""
        key = (op.name, 0)
        known = self.values.get(key)
        if not isinstance(known, Value):
            for tensor in op.inputs[1:]:
                self.node(tensor)
            inputs = tuple(self.values[key_of(t)] for t in op.inputs[1:])
            known = self.values[key] = self._value(op, inputs, False)
            known.name = "assign"
        return known

    def writes(self) -> Iterator[tuple[int, str, Value]]:
        """What this reading assigns to variables, and what the functions that it calls assign."""
        for op in self.graph.get_operations():
            if op.type in vocabulary.WRITES and not self._graphs.is_optimizers(self.graph, op):
                yield self.handle(op.inputs[0]), op.type, self.write(op)
            for name in called_by(op) if self._depth < _DEEP else ():
                graph = private.function_graph(self.graph, name)
                if graph is not None and self._graphs.has_writes(graph):
                    given = list(op.inputs)[1 if op.type in _CONDITIONS else 0 :]
                    for tensor in given:
                        self._known(tensor)
                    feeds = {key_of(t): self._feed(g) for t, g in zip(graph.inputs, given, strict=False)}
                    yield from Body(self._graphs, graph, feeds, self._value(op), self._depth + 1).writes()

    def _known(self, tensor: Any) -> None:
        if not self._is_variable(tensor):
            self.node(tensor)

    # -- functions ---------------------------------------------------------------------------------

    def _many(self, op: Any, results: list[Node]) -> None:
        for index, tensor in enumerate(op.outputs):
            if index < len(results):
                self.values[(op.name, index)] = results[index]
            else:
                value = self._value(op, (), False)
                value.describe(tensor)
                self.values[(op.name, index)] = value

    def _called(self, op: Any, name: str, tensors: Iterable[Any], owner: Value) -> list[Node]:
        """The results of a function that is called with these tensors."""
        body = private.function_graph(self.graph, name)
        if body is None or self._depth >= _DEEP:
            inputs = self._inputs(op)
            values = [self._value(op, inputs, vocabulary.passes("Identity", t.dtype)) for t in op.outputs]
            return list(values)
        return self.enter(body, [self._feed(t) for t in tensors], owner)

    def enter(self, graph: Any, feeds: list[Node], owner: Value) -> list[Node]:
        """Read the body of a function with these values as its inputs."""
        given = {key_of(t): f for t, f in zip(graph.inputs, feeds, strict=False)}
        body = Body(self._graphs, graph, given, owner, self._depth + 1)
        return [body.node(t) if t.dtype.name != "resource" else Handle(0) for t in graph.outputs]

    def _feed(self, tensor: Any) -> Node:
        if self._is_variable(tensor):
            return Handle(self.handle(tensor))
        return self.values[key_of(tensor)]

    def _branches(self, op: Any, names: list[str]) -> None:
        """A condition: the result may come from either branch."""
        results = [self._called(op, name, list(op.inputs)[1:], self._value(op)) for name in names]
        chosen = self.values.get(key_of(op.inputs[0]))
        for index, tensor in enumerate(op.outputs):
            inputs = [r[index] for r in results if index < len(r)]
            self._merge(op, index, tensor, (*inputs, *((chosen,) if chosen is not None else ())))

    def _loop(self, op: Any) -> None:
        """A loop: two rounds show what one round gives to the next."""
        name = op.get_attr("body").name
        first = [self._feed(t) for t in op.inputs]
        body = private.function_graph(self.graph, name)
        if body is None or self._depth >= _DEEP:
            self._plain(op)
            return
        once = self.enter(body, first, self._value(op))
        twice = self.enter(body, once, self._value(op)) if len(once) == len(first) else once
        for index, tensor in enumerate(op.outputs):
            rounds = [r[index] for r in (twice, once, first) if index < len(r)]
            self._merge(op, index, tensor, tuple(r for r in rounds if not isinstance(r, Handle)))

    def _merge(self, op: Any, index: int, tensor: Any, inputs: tuple[Node, ...]) -> None:
        value = self._value(op, inputs, vocabulary.passes("Identity", tensor.dtype))
        value.describe(tensor)
        self.values[(op.name, index)] = value


class Handle(Value):
    """A variable that is handed into a function."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        super().__init__("variable", (), None, False)
        self.handle = handle


def called_by(op: Any) -> list[str]:
    """The functions that an operation of a graph runs."""
    if op.type in vocabulary.CALLS:
        return [op.get_attr("f").name]
    if op.type in ("If", "StatelessIf"):
        return [op.get_attr("then_branch").name, op.get_attr("else_branch").name]
    if op.type in ("Case", "StatelessCase"):
        return [branch.name for branch in op.get_attr("branches")]
    return [op.get_attr("body").name] if op.type in ("While", "StatelessWhile") else []


def _leaves_at(where: Where | None) -> Where | None:
    """The line on which the function that ``tf.py_function`` calls leaves TensorFlow, read in the source."""
    if where is None:
        return None
    line, function = leaving_line(where.code.co_filename, where.line)
    return Where(Told(where.code.co_filename, function), line) if line else None


def key_of(tensor: Any) -> Key:
    """What a tensor is called in its graph."""
    return tensor.op.name, tensor.value_index
