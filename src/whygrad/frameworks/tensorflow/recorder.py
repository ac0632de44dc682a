"""Eager operations as values: what was computed from what, on which line, under which tapes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.groups import Groups
from whygrad.frameworks.shared.nodes import Node, Param, Table
from whygrad.frameworks.shared.objects import is_a, leaves, listed, plain_array, shown, size
from whygrad.frameworks.shared.values import Outside
from whygrad.frameworks.tensorflow import masks, numbers, private, vocabulary
from whygrad.frameworks.tensorflow.axes import axes_of
from whygrad.frameworks.tensorflow.graphs import Graphs
from whygrad.frameworks.tensorflow.groups import extremes
from whygrad.frameworks.tensorflow.kinds import KINDS
from whygrad.frameworks.tensorflow.tapes import Tapes
from whygrad.frameworks.tensorflow.values import Value, here, number_in
from whygrad.frameworks.tensorflow.variables import Variables, handle_of

_SILENT = frozenset(
    ("VarHandleOp", "VarIsInitializedOp", "DestroyResourceOp", "Shape", "Fill", "Range", "ZerosLike")
)
_SMALL = 4096
_MOST_NESTED = 256
_RECENT = 4096


class Recorder:
    """The shadow of what is computed while recording is on."""

    def __init__(self, tapes: Tapes) -> None:
        self.tapes = tapes
        self.table = Table()
        self.outside = Outside()
        self.variables = Variables()
        self.graphs = Graphs(self.variables, self.eager)
        self.groups = Groups(KINDS)
        self.probing = False  # something is wrong: look at the values too
        self.operations = 0  # since the last step
        self.on_write: Callable[[str, int, Value], None] = lambda op_type, handle, value: None
        self._recent: deque[Value] = deque(maxlen=_RECENT)
        self.scalars: deque[Any] = deque(
            maxlen=64
        )  # perhaps terms of a loss: kept until it is differentiated

    def node(self, tensor: Any) -> Node:
        """The value of a tensor, in eager or traced code."""
        if is_a(tensor, private.EAGER_TENSOR):
            return self.eager(tensor)
        if handle_of(tensor):
            return self.variables.node(handle_of(tensor))
        return self.graphs.node(tensor)

    def eager(self, tensor: Any, where: Where | None = None) -> Node:
        """The value of an eager tensor; plain data if nobody saw it being made."""
        node = self.table.get(tensor)
        if node is None:
            node = self._data("data", tensor, where)
        return node

    def _data(self, name: str, tensor: Any, where: Where | None) -> Node:
        sources: list[Node] = []
        via = ""
        if tensor.dtype.is_floating and 0 < (tensor.shape.num_elements() or 0) <= _SMALL:
            values = private.contents(tensor)
            if values is not None:
                sources, via = self.outside.of_data(values)
        return self._fresh(name, tensor, sources, via, where)

    def _fresh(self, name: str, tensor: Any, sources: list[Node], via: str, where: Where | None) -> Node:
        node = Value(name, tuple(sources), where, False)
        node.describe(tensor)
        node.fresh, node.via = True, via
        node.tapes = self.tapes.open
        if not sources and node.shape == ():
            node.number = number_in(private.contents(tensor))
        self.table.put(tensor, node)
        self._probe(node, tensor)
        return node

    def probe(self, params: Iterable[Param]) -> None:
        """From now on, look at what is in the values; now at what is in these weights."""
        self.probing = True
        for param in params:
            if param.node is not None:
                param.node.values = numbers.weights_of(param)

    def _probe(self, node: Node, tensor: Any) -> None:
        if self.probing:
            node.values = numbers.values_of(tensor)

    # -- operations --------------------------------------------------------------------------------

    def operation(self, op_type: str, inputs: Any, outputs: Any, frame: FrameType) -> None:
        """One eager operation."""
        if op_type in _SILENT or op_type.startswith(("__inference_", "__forward_")):
            return
        where = here(frame)
        self.operations += 1
        if op_type in vocabulary.WRITES:
            self._write(op_type, inputs, where)
            return
        found: list[Node] = []
        for tensor in inputs:
            if tensor.dtype is tf.resource:
                found += self._read(tensor, op_type)
            else:
                found.append(self.eager(tensor, where))
        sources, axes = tuple(found), axes_of(op_type, inputs, private.contents)
        for tensor in outputs:
            value = Value(
                vocabulary.name_of(op_type), sources, where, vocabulary.passes(op_type, tensor.dtype)
            )
            value.arithmetic()
            value.describe(tensor)
            value.axes = axes
            value.tapes = self.tapes.open
            value.left = op_type in vocabulary.LEAVES
            self.table.put(tensor, value)
            self._probe(value, tensor)
            self._masks(value, inputs, tensor)
            self._grouped(value, inputs)
            if value.tainted:
                self._recent.append(value)
                if value.shape == () and value.tapes and value.carries:
                    self.scalars.append(tensor)

    def _masks(self, value: Value, inputs: Any, result: Any) -> None:
        """``1 - done``, and what is multiplied with a value of a network or a discount."""
        if masks.is_mask(value):
            value.odd = masks.holds_more(result)
        if masks.is_weighed(value):
            for tensor in inputs:
                node = self.table.get(tensor)
                if isinstance(node, Value) and not node.tainted and node.number is None:
                    node.odd = node.odd or masks.looks_inverted(tensor)
                    node.ones = node.ones or masks.ones_in(tensor)

    def _grouped(self, value: Value, inputs: Any) -> None:
        """Rewards minus the mean of their group: have they any spread?"""
        grouping = self.groups.of(value)
        found = extremes(inputs[0], grouping) if grouping is not None else None
        if found is not None:
            self.groups.note(value, *found)

    def _read(self, handle: Any, op_type: str) -> list[Node]:
        number = private.identity(handle)
        found: list[Node] = [self.variables.node(number)]
        written = self.variables.written(number)
        if written is not None and op_type in vocabulary.READS:
            found.append(written)
        return found

    def _write(self, op_type: str, inputs: Any, where: Where | None) -> None:
        value = Value("assign", tuple(self.eager(t, where) for t in inputs[1:2]), where, False)
        value.tapes = self.tapes.open
        number = private.identity(inputs[0])
        old = self.variables.written(number)
        if op_type != "AssignVariableOp" and old is not None:
            value.inputs = (*value.inputs, old)
            value.tainted = value.tainted or old.tainted
        self.variables.node(number, used=False)
        self.variables.wrote(number, value)
        self.on_write(op_type, number, value)

    def called(self, graph: Any, feeds: list[Any], outputs: list[Any], frame: FrameType) -> None:
        """A traced function was called from eager code: its operations become values of this call."""
        self.operations += 1
        where = here(frame)
        owner = Value("call", (), where, True)
        owner.tapes = self.tapes.open
        results = self.graphs.call(graph, feeds, owner)
        tensors = [t for t in tf.nest.flatten(outputs, expand_composites=True) if private.is_tensor(t)]
        for tensor, result in zip(tensors, results, strict=False):  # more results serve the backward pass
            if is_a(tensor, private.EAGER_TENSOR):
                self.table.put(tensor, result)
                if isinstance(result, Value) and result.tainted:
                    self._recent.append(result)

    def put(self, tensor: Any, value: Value) -> None:
        """From now on ``tensor``, eager or traced, is the value ``value``."""
        if is_a(tensor, private.EAGER_TENSOR):
            value.tapes = self.tapes.open
            self.table.put(tensor, value)
        else:
            known = self.graphs.body(tensor.graph)
            value.graph, value.index = known.number, known.index(tensor.op)
            self.graphs.put(tensor, value)

    # -- leaving and coming back -------------------------------------------------------------------

    def left(self, name: str, tensor: Any, value: Any, frame: FrameType) -> None:
        """A value leaves the framework as a number or an array."""
        source = self.table.get(tensor)
        if source is None or not source.tainted:
            return
        consumed = source.consumed
        node = Value(name, (source,), here(frame), False)
        source.consumed = consumed  # a number to print is not a use
        self._out(node, value)

    def predicted(self, name: str, model: Any, result: Any, frame: FrameType) -> None:
        """``model.predict``: numpy in, numpy out, and the variables of the model in between."""
        node = self.prediction(name, model, frame)
        array = plain_array(result)
        if array is not None:
            node.shape = tuple(array.shape)
        for array in tf.nest.flatten(result):
            self._out(node, array)

    def prediction(self, name: str, model: Any, frame: FrameType) -> Value:
        """What ``model.predict`` gives, as a value that has left."""
        variables = [self.variables.param(v) for v in listed(shown(model, "trainable_variables"))]
        nodes = tuple(p.node for p in variables if p is not None and p.node is not None)
        return Value(name, nodes, here(frame), False)

    def _out(self, node: Value, value: Any) -> None:
        node.left = True
        node.tapes = self.tapes.open
        if is_a(value, float, list):
            self.outside.numbers(value, node)
        elif plain_array(value) is not None:
            self.outside.array(value, node)
        self.outside.exits.append(node)

    def entered(self, name: str, data: Any, tensor: Any, frame: FrameType) -> None:
        """Plain data becomes a tensor."""
        if not is_a(tensor, private.EAGER_TENSOR) or data is tensor or not tensor.dtype.is_floating:
            return
        where = here(frame)
        nested = leaves(data) if is_a(data, list, tuple) and size(data) <= _MOST_NESTED else ()
        sources = [self.eager(t, where) for t in nested if is_a(t, private.EAGER_TENSOR)]
        via = "tensor" if sources else ""
        if not sources and (tensor.shape.num_elements() or 0) <= _SMALL:
            sources, via = self.outside.of_data(data)
        self._fresh(name, tensor, sources, via, where)

    def ends(self, since: int) -> tuple[Node, ...]:
        """Values from which TensorFlow has computed nothing: numpy may have."""
        found = {v.where: v for v in self._recent if not v.consumed and v.floating and v.time > since}
        return tuple(found.values())

    def unused_scalars(self, since: int) -> tuple[Node, ...]:
        """Living numbers that could carry gradient and from which nothing was computed: losses left out."""
        return tuple(node for node in self.table.scalars(since) if node.tainted)[:16]
