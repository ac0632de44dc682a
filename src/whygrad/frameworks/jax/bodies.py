"""Functions that JAX traces: their arguments are what they were called with.

A function is traced once. Whoever calls it again with other values gets a copy of what it computes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, Protocol

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.values import Value, here, origin
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.scopes import variables_of

_FAR = 40  # frames between an operation and whoever traces it
#: The functions of JAX that trace one of the user's, and the variable in which they hold what it gets.
_CALLERS = {
    "_infer_params": "dynargs",
    "scan": "args",
    "while_loop": "init_val_flat",
    "fun_remat": "args_flat",
    "_switch_internal": "args",
    "cond": "args",
    "_cond": "args",
}
_SOURCE = os.path.join("jax", "_src")
_JITS = ("jit", "pjit", "closed_call", "core_call")


class _Recorder(Protocol):
    staged: dict[tuple[Any, tuple[Any, ...]], Node]

    def node(self, value: Any) -> Node: ...

    def put(self, value: Any, node: Node) -> None: ...


class Bodies:
    """What stands for the arguments of functions that are being traced, or have been."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder
        self._frames: dict[int, Any] = {}  # those whose arguments are known
        self.repeats: dict[int, int] = {}  # frame of a loop -> how often it runs, where that is known
        self.library: set[Any] = set()
        self.on_call: Callable[[Any], None] = lambda jaxpr: None
        self.on_body: Callable[[Any], None] = lambda jaxpr: None  # of a loop, or a branch
        self.on_loop: Callable[[Any, int, int, int], None] = lambda body, first, carried, rounds: None

    def argument(self, variable: Any, staged: Any) -> Node | None:
        """What an argument of a function stands for; nothing for what is none."""
        frame: Any = getattr(getattr(staged, "_trace", None), "frame", None)
        if frame is None:
            return None
        if self._frames.get(id(frame)) is not frame:
            self._frames[id(frame)] = frame
            self._meet(frame)
        found = self._recorder.staged.get((variable, ()))
        if found is None and variable in frame.constvar_to_val:
            return self._recorder.node(frame.constvar_to_val[variable])
        return found

    def _meet(self, frame: Any) -> None:
        """A function has begun to be traced: its arguments."""
        invars = list(frame.invars)
        values = _handed_over(invars)
        for number, variable in enumerate(invars):
            sources: tuple[Node, ...] = ()
            if values is not None:
                given = self._recorder.node(values[number])
                sources = (given,)
            node = Value("argument", sources, None, True)
            node.shape = tuple(n if type(n) is int else -1 for n in getattr(variable.aval, "shape", ()))
            node.floating = private.floating_type(variable.aval)
            if sources and node.shape != sources[0].shape:
                node.name = "slice"  # one of many, as a loop goes through them
            self._recorder.staged[variable, ()] = node

    def called(
        self, name: str, params: Any, args: Sequence[Any], results: Sequence[Any], frame: FrameType
    ) -> bool:
        """A function of the user's was called, if it is one: its results are what it computes."""
        found = list(_parts(name, params, args))
        if not found:
            return False
        if name in _JITS and self.is_library(params["jaxpr"]):
            return False
        if name in _JITS:
            self.on_call(found[0][0])
        else:
            for body, _ in found:
                self.on_body(body)
            if name == "scan":
                consts, carried, length = (params.get(k, 0) for k in ("num_consts", "num_carry", "length"))
                self.on_loop(found[0][0], consts, carried, length)
        where = here(frame)
        for place, one in enumerate(results):
            nodes = []
            for body, given in found:
                made = self._result(body, given, place)
                if made is not None:
                    nodes.append(made)
            if not nodes:
                continue
            shape = private.shape_of(one)
            if len(nodes) == 1 and (shape == nodes[0].shape or name in _JITS):
                self._recorder.put(one, nodes[0])
                continue
            value = Value(name, tuple(nodes), where, True)
            value.shape, value.floating = shape or (), private.floating(one)
            value.passes = value.carries = value.floating
            self._recorder.put(one, value)
        return True

    def is_library(self, closed: Any) -> bool:
        """Is this a function of JAX's own, whose name says what it does?"""
        return getattr(closed, "jaxpr", closed) in self.library

    def _result(self, jaxpr: Any, args: Sequence[Any], place: int) -> Node | None:
        if place >= len(jaxpr.outvars):
            return None
        out = jaxpr.outvars[place]
        if not is_a(out, private.VAR):
            return None
        made = self._recorder.staged.get((out, ()))
        if made is None:
            return None
        return self._with(jaxpr, args, made)

    def _with(self, jaxpr: Any, args: Sequence[Any], made: Node) -> Node:
        """The same for these arguments: another copy, if it was traced for others."""
        others: dict[Node, Node] = {}
        if len(jaxpr.invars) != len(args):
            return made
        for variable, given in zip(jaxpr.invars, args, strict=True):
            stands = self._recorder.staged.get((variable, ()))
            if stands is None or stands.name not in ("argument", "slice"):
                continue
            node = self._recorder.node(given)
            if not stands.inputs:
                stands.inputs = (node,)
                stands.tainted = stands.tainted or node.tainted
            elif stands.inputs[0] is not node and origin(stands) is not origin(node):
                others[stands] = node
        return _copied(made, others) if others else made


def _copied(made: Node, others: dict[Node, Node]) -> Node:
    """A value with other arguments behind it."""
    known = dict(others)
    todo = [made]
    behind: set[Node] = set()  # what has one of them behind it
    order: list[Node] = []
    seen: set[Node] = set()
    while todo:
        node = todo.pop()
        if node in seen:
            order.append(node)
            continue
        seen.add(node)
        todo.append(node)
        todo.extend(n for n in node.inputs if n not in seen and n not in known)
    for node in order:
        if node in known or node in behind:
            continue
        if any(n in known for n in node.inputs):
            other = Value(node.name, tuple(known.get(n, n) for n in node.inputs), node.where, node.carries)
            other.passes = getattr(node, "passes", node.carries)
            for slot in ("shape", "floating", "numbers", "axes", "parameter", "fresh", "via"):
                setattr(other, slot, getattr(node, slot))
            known[node] = other
        behind.add(node)
    return known.get(made, made)


def _parts(name: str, params: Any, args: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """The functions that an operation calls, each with what it gets."""
    if name in (*_JITS, "scan", "remat", "remat2", "checkpoint") and "jaxpr" in params:
        yield _open(params["jaxpr"]), args
    elif name == "while":
        first = params["cond_nconsts"]
        yield _open(params["body_jaxpr"]), args[first:]
    elif name == "cond":
        for branch in params["branches"]:
            yield _open(branch), args[1:]


def _open(jaxpr: Any) -> Any:
    return getattr(jaxpr, "jaxpr", jaxpr)


def _handed_over(invars: list[Any]) -> list[Any] | None:
    """What the function that is being traced was called with, as JAX holds it further out."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_FAR * 4):
        if frame is None:
            return None
        code = frame.f_code
        wanted = _CALLERS.get(code.co_name)
        if wanted is not None and _SOURCE in code.co_filename:
            held = variables_of(frame).get(wanted)
            values = None if held is None else list(held)
            if values is not None and len(values) == len(invars):
                return values
            return None
        frame = frame.f_back
    return None
