"""Values that are read in compiled code without a new reader for what TensorFlow may merge.

Grappler merges the factors and terms of neighbouring operations where each has one reader; a gradient that
we read as well would be left out, and the user's next operation would round otherwise. So what may be merged
is computed once more, for us alone, from what cannot be. The mark keeps TensorFlow from finding that the two
are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_MERGED = frozenset(("Add", "AddN", "AddV2", "Div", "Identity", "Mul", "Neg", "RealDiv", "Square", "Sub"))
_MARK = {"_whygrad": tf.compat.v1.AttrValue(b=True)}


def apart(tensors: Sequence[Any]) -> list[Any]:
    """The same values. Called while a function is traced."""
    graph = tf.compat.v1.get_default_graph()
    copies: dict[Any, Any] = {}
    return [_copied(tensor.op, graph, copies).outputs[tensor.value_index] for tensor in tensors]


def _copied(op: Any, graph: Any, copies: dict[Any, Any]) -> Any:
    waiting = [op]
    while waiting:
        here = waiting[-1]
        if here in copies:
            waiting.pop()
        elif here.graph is not graph or here.type not in _MERGED or here.control_inputs:
            copies[here] = here
        elif missing := [t.op for t in here.inputs if t.op not in copies]:
            waiting += missing
        else:
            copies[here] = _copy(here, graph, [copies[t.op].outputs[t.value_index] for t in here.inputs])
    return copies[op]


def _copy(op: Any, graph: Any, inputs: list[Any]) -> Any:
    attributes = {key: value for key, value in op.node_def.attr.items() if key[0] != "_"}
    kinds = [t.dtype for t in op.outputs]
    with graph.device(op.device), graph.control_dependencies(None):
        return graph.create_op(op.type, inputs, kinds, name="whygrad", attrs=attributes | _MARK)
