"""A value of JAX: a node that knows whether gradient goes through it, and what it is to a step."""

from __future__ import annotations

import os
from types import FrameType, TracebackType
from typing import Any

from whygrad.frameworks.jax import private
from whygrad.frameworks.shared.frames import USER, Where, kind_of, locate
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.objects import is_a, plain_number

#: Between a user's line and an operation of JAX or Flax; they say nothing about it.
_PLUMBING = tuple(
    os.sep + os.path.join(*parts)
    for parts in (
        ("jax", "_src", "traceback_util.py"),
        ("jax", "_src", "pjit.py"),
        ("jax", "_src", "api.py"),
        ("jax", "_src", "core.py"),
        ("jax", "_src", "tree_util.py"),
        ("jax", "_src", "custom_derivatives.py"),
        ("jax", "_src", "numpy", "array_methods.py"),
        ("flax", "linen", "module.py"),
        ("flax", "nnx", "module.py"),
        ("equinox", "_module", "_module.py"),
        ("haiku", "_src", "module.py"),
        ("haiku", "_src", "transform.py"),
    )
)
_places: dict[Where, Where] = {}
Tags = tuple[Any, ...]


class Value(Node):
    """One result of one operation.

    ``carries`` says only that gradient could go through it; whether it does depends on what is asked for.
    """

    __slots__ = ("asked_by", "before", "graded", "gradient_of", "number", "passes", "update_of", "version")

    def __init__(self, name: str, inputs: tuple[Node, ...], where: Where | None, passes: bool) -> None:
        super().__init__(name, inputs, where, passes)
        self.passes = passes
        self.gradient_of: Any = None  # (call that differentiates, key of the parameter): it is a gradient
        self.update_of: Any = None  # the optimizer whose update this is
        self.asked_by: Any = None  # the call that differentiates, where this is what it was asked for
        self.graded = any(getattr(source, "graded", False) for source in inputs)  # a gradient is behind it
        self.number: float | None = None
        self.before: Node | None = None  # of a parameter: the version that a step began with
        self.version = 0  # of a parameter: by how many steps it was made


def unwrap(value: Any) -> tuple[Any, Tags, Any]:
    """What a tracer stands for: the bare value, the calls that differentiate it, and who stages it."""
    tags: Tags = ()
    staged = None
    while is_a(value, private.TRACER):
        if private.LINEARIZE_TRACER is not None and is_a(value, private.LINEARIZE_TRACER):
            tags += (value._trace.tag,)
            value = value.primal
        elif is_a(value, private.JVP_TRACER):
            value = value.primal
        elif is_a(value, private.BATCH_TRACER):
            value = value.val
        elif is_a(value, private.STAGED_TRACER):
            staged, value = value, value.val
        else:
            return None, tags, None
    return value, tags, staged


def number_of(value: Any) -> float | None:
    """The plain number that this is: what the user wrote, not what was computed."""
    if is_a(value, private.LITERAL):
        value = value.val
    if is_a(value, private.ARRAY):
        return None
    found = plain_number(value)
    if found is not None:
        return found
    if getattr(value, "shape", None) == () and type(value).__module__.split(".")[0] in ("numpy", "jax"):
        try:
            return float(value)
        except (TypeError, ValueError):
            return None
    return None


def here(frame: Any) -> Where | None:
    """The user's line; what JAX and Flax call on the way is none of the operation's names."""
    where = locate(frame)
    if where is None or where.api is None:
        return where
    if where.api.co_filename.endswith(_PLUMBING) or "<locals>" in where.api.co_qualname:
        known = _places.get(where)
        if known is None:
            known = _places[where] = Where(where.code, where.line, None, where.outer)
        return known
    return where


def own(traceback: TracebackType | None) -> FrameType | None:
    """The innermost frame of the user's in which something was raised."""
    found = None
    while traceback is not None:
        if kind_of(traceback.tb_frame.f_code) == USER:
            found = traceback.tb_frame
        traceback = traceback.tb_next
    return found


def origin(node: Node) -> Node:
    """What an argument stands for, through all the functions that it was handed to."""
    while node.name == "argument" and node.parameter is None and node.inputs:
        node = node.inputs[0]
    return node


def parameter_of(node: Node | None) -> Param | None:
    """The parameter that a value is."""
    return origin(node).parameter if node is not None else None
