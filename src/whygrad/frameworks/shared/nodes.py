"""The shadow of a computation: one small object per value, and which live tensor has which.

A node holds no tensor. It is kept by the values computed from it, and goes when they go.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from itertools import count
from typing import Any

from whygrad.doors import door
from whygrad.frameworks.shared.frames import Where
from whygrad.model import Values

clock = count(1).__next__


def reference(thing: Any, gone: Callable[[Any], None] | None = None) -> Callable[[], Any]:
    """A way back to an object that does not keep it; a plain value, which cannot be told of, is kept."""
    try:
        return weakref.ref(thing, gone)
    except TypeError:  # a named tuple, as some optimizers are
        return lambda: thing


class Gate:
    """A place where the user turned gradients off, or a tape that did not see."""

    __slots__ = ("kind", "tape", "where")

    def __init__(self, kind: str, where: Where, tape: bool = False) -> None:
        self.kind, self.where, self.tape = kind, where, tape


class Node:
    """A value: what made it, from what, and whether gradient flows through it."""

    __slots__ = (
        "axes",
        "carries",
        "consumed",
        "floating",
        "fresh",
        "gate",
        "gradient",
        "groups",
        "inputs",
        "left",
        "mark",
        "name",
        "numbers",
        "odd",
        "ones",
        "overwritten",
        "parameter",
        "shape",
        "tainted",
        "taken",
        "time",
        "training",
        "values",
        "versions",
        "via",
        "where",
    )

    def __init__(self, name: str, inputs: tuple[Node, ...], where: Where | None, carries: bool) -> None:
        self.name = name
        self.inputs = inputs
        self.where = where
        self.carries = carries
        self.floating = True
        self.shape: tuple[int, ...] = ()
        self.parameter: Param | None = None
        self.gate: Gate | None = None
        self.fresh = self.left = self.odd = False
        self.ones: tuple[int, ...] = ()  # of a mask: how many, and of how many elements
        self.gradient: Param | None = None  # the parameter whose .grad this is
        self.numbers: tuple[float, ...] = ()  # plain numbers among the arguments
        self.axes: tuple[int, ...] = ()  # the dimensions that it works along
        self.via = ""
        self.time = clock()
        self.mark = [0]  # the backward that has gone through it; shared by all results of an operation
        self.overwritten: Node | None = None  # the in-place operation that changed this value later
        self.versions: tuple[tuple[Param, int], ...] = ()  # parameters read, at which version
        self.values: Values | None = None
        self.groups: tuple[int, ...] = ()  # without spread, and all, of a value minus the mean of its groups
        self.training: bool | None = None  # it went through a layer that has modes, in this one
        self.consumed = False  # something was computed from it
        self.tainted = False
        self.taken = False  # ... for something else than its own log-probability
        scoring = where is not None and where.api is not None and where.api.co_name == "log_prob"
        for source in inputs:
            source.consumed = True
            source.taken = source.taken or not scoring
            self.tainted = self.tainted or source.tainted


def cone(roots: Iterable[Node]) -> Iterator[Node]:
    """All nodes that these came from, themselves included."""
    seen = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            yield node
            todo.extend(node.inputs)


class Param:
    """What is known of one leaf tensor that asks for gradients."""

    __slots__ = (
        "adopted",
        "asked",
        "asked_at",
        "born_frozen",
        "captured",
        "copied_from",
        "ends",
        "frozen_at",
        "frozen_when",
        "gone",
        "hidden",
        "key",
        "loaded",
        "made",
        "modules",
        "moved",
        "name",
        "network",
        "node",
        "print",
        "proper",
        "ref",
        "replaced_at",
        "replaced_when",
        "scale",
        "seen",
        "shape",
        "trained",
        "untracked_how",
        "untracked_in",
        "used",
        "writer",
    )

    def __init__(
        self,
        tensor: Any,
        made: tuple[Where, ...],
        proper: bool,
        trainable: bool,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        self.key = clock()
        self.ref = reference(tensor)
        self.shape = tuple(tensor.shape) if shape is None else shape
        self.made = made
        self.name = ""
        self.network = ""
        self.node: Node | None = None
        self.frozen_at: Where | None = None
        self.frozen_when = self.replaced_when = 0
        self.replaced_at: Where | None = None
        self.untracked_in = ""
        self.untracked_how = ""
        self.copied_from: Param | None = None
        self.modules: tuple[Any, ...] | None = None  # weak references: who was running at its first use
        self.trained = self.loaded = self.used = False
        self.proper = proper  # made to be trained, not an input
        self.hidden = False  # used where nobody sees what is done with it
        self.adopted = False  # a copy that a layer is given, and no parameter to the framework
        self.asked = 0  # in how many recorded updates a backward reached it
        self.asked_at = -1
        self.seen = False
        self.captured = False  # reachable only through a compiled wrapper
        self.scale = 1.0  # what in-place factors have left of it since its last mixture
        self.print: float | None = None  # a fingerprint of its values at the first look
        self.moved = False  # a later look has found others
        self.ends: tuple[Any, ...] = ()  # weak references that tell when it goes
        self.gone: dict[int, int] | None = None  # how many steps each optimizer had made when it died
        self.born_frozen = not trainable
        self.writer: tuple[str, Where | None] | None = None  # who changed it last

    def copy(self) -> Param:
        """The same parameter, for a look: what is found out about the copy changes nothing here."""
        return copy(self)


class Table:
    """Live tensor -> node. A dead tensor's entry goes with it, and its id may be used again."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], Node]] = {}

    def get(self, tensor: Any) -> Node | None:
        """The node of this very tensor."""
        entry = self._entries.get(id(tensor))
        if entry is not None and entry[0]() is tensor:
            return entry[1]
        return None

    def put(self, tensor: Any, node: Node) -> None:
        """From now on ``tensor`` is the value ``node``."""
        key = id(tensor)
        entry = self._entries.get(key)
        if entry is not None and entry[0]() is tensor:
            self._entries[key] = (entry[0], node)
            return

        @door
        def gone(ref: Any, key: int = key, entries: Any = self._entries) -> None:
            held = entries.get(key)
            if held is not None and held[0] is ref:
                del entries[key]

        self._entries[key] = (weakref.ref(tensor, gone), node)

    def living(self) -> dict[Node, Any]:
        """The tensors that are still there."""
        held = [(node, ref()) for ref, node in list(self._entries.values())]
        return {node: tensor for node, tensor in held if tensor is not None}

    def nodes(self) -> list[Node]:
        """The values of all living tensors."""
        return [node for _, node in list(self._entries.values())]

    def scalars(self, since: int) -> list[Node]:
        """Living numbers after this moment that carry gradient, and from which nothing was computed."""
        return [
            node
            for node in self.nodes()
            if node.carries and node.parameter is None and not node.consumed
            if node.time > since and node.shape in ((), (1,))
        ]

    def tensors(self, nodes: Iterable[Node]) -> dict[Node, Any]:
        """The living tensors of these values."""
        wanted = set(nodes)
        held = ((node, ref()) for ref, node in list(self._entries.values()) if node in wanted)
        return {node: tensor for node, tensor in held if tensor is not None}

    def forget_data(self) -> None:
        """Recording starts again: what is not part of a living graph may have changed unseen."""
        for key, (_, node) in list(self._entries.items()):
            if node.parameter is None and not node.carries:
                self._entries.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)
