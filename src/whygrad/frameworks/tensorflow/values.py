"""A value of TensorFlow: a node that knows which tapes saw it being made."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.frames import Where, locate, told
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.tensorflow import private, vocabulary
from whygrad.model import UNRANKED

_GENERATED = "__autograph_generated_file"


class Value(Node):
    """One result of one operation.

    ``carries`` says only that gradient could flow; whether it does depends on the tape that is asked. An
    operation in a graph has its place there; one inside of a called function has the call as its ``owner``.
    """

    __slots__ = (
        "clip",
        "factor",
        "gradient_of",
        "graph",
        "index",
        "masks",
        "number",
        "owner",
        "tapes",
        "zero",
    )

    def __init__(self, name: str, inputs: tuple[Node, ...], where: Where | None, passes: bool) -> None:
        super().__init__(name, inputs, where, passes)
        self.tapes: tuple[int, ...] = ()  # the tapes that were recording, in eager code
        self.graph = 0  # the number of the graph, in traced code
        self.index = 0  # its place in the graph
        self.owner: Value | None = None
        self.gradient_of: Any = None  # (backward, parameter key): it is a gradient
        self.zero = False  # a gradient that is exactly zero
        self.clip: Any = None  # the clip that gave this gradient
        self.masks: tuple[Value, ...] = ()  # of an argument of a compiled function: the masks made of it
        self.factor = False  # of such an argument: a value of a network, or a discount, is multiplied with it
        self.number: float | None = None  # a plain number that the user wrote

    def describe(self, tensor: Any) -> None:
        """Take over what rules want to know of a tensor."""
        shape = tensor.shape
        known = shape.rank is not None
        self.shape = tuple(-1 if n is None else n for n in shape.as_list()) if known else UNRANKED
        self.floating = tensor.dtype.is_floating or tensor.dtype.is_complex

    def arithmetic(self) -> None:
        """Numbers among the inputs are numbers, not values that something was computed from."""
        if len(self.inputs) == 1 and vocabulary.keeps_number(self.name):
            self.number = getattr(self.inputs[0], "number", None)
        if len(self.inputs) == 2:
            known = [getattr(source, "number", None) for source in self.inputs]
            self.name, self.numbers, kept = vocabulary.spoken(self.name, known)
            self.inputs = tuple(self.inputs[i] for i in kept)


def here(frame: Any) -> Where | None:
    """The user's line, also when autograph has rewritten it."""
    where = locate(frame)
    if where is not None and _GENERATED in where.code.co_filename:
        return told(private.told_frames())
    return where


def dense(gradient: Any) -> Any:
    """The numbers of a gradient; a sparse one has them in a tensor of its own."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def number_in(content: Any) -> float | None:
    """The number that a scalar holds; nothing if it holds none."""
    try:
        return float(content)
    except (TypeError, ValueError):
        return None
