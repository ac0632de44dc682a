"""Parameters: arrays are values, so a parameter is a first array and all that steps have made of it."""

from __future__ import annotations

import weakref
from itertools import islice
from typing import Any

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.jax.values import Value, origin, unwrap
from whygrad.frameworks.shared.copies import Copies
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param, cone
from whygrad.frameworks.shared.objects import is_a

_NEAR = 2000
_MOST = 20_000


class Lineages:
    """Which values are parameters, and whose next version is what."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.params: dict[int, Param] = {}  # by key
        self.latest: dict[int, Any] = {}  # key -> weak reference to the newest array
        self.versions: dict[int, int] = {}  # key -> how many steps were seen
        self.copies = Copies()
        self._computed: dict[Node, Param] = {}  # values that somebody asks for, and that are no parameters
        self._targets: dict[tuple[int, Any], Param] = {}
        self.bindings: dict[int, list[weakref.ref[Any]]] = {}  # of a target: the arrays that it was, in order

    def of(self, value: Any) -> Param | None:
        """The parameter that this array or tracer is, if it is one."""
        base, tags, staged = unwrap(value)
        found = self._recorder.known(base, tags, staged)
        return origin(found).parameter if found is not None else None

    def asked(self, value: Any, where: Where | None, proper: bool = True) -> Param:
        """Somebody trains this value, or wants to: it is a parameter from now on."""
        node = self._recorder.node(value)
        first = origin(node)
        if first.parameter is not None:
            return first.parameter
        if first in self._computed:
            return self._computed[first]
        computed = not first.fresh and any(n.parameter is not None for n in islice(cone((first,)), _NEAR))
        base = unwrap(value)[0]
        array = base if is_a(base, private.ARRAY) else _Nobody()
        where = first.where
        made = (where, *where.outer) if where is not None else ()
        shape = private.shape_of(value) or ()
        param = Param(array, made, proper and not computed, True, shape)
        if isinstance(array, _Nobody):
            param.ref = weakref.ref(array)
        self.params[param.key] = param
        if computed:
            stands = Value("parameter", (), first.where, True)
            stands.parameter, stands.shape, stands.tainted = param, shape, True
            param.node = stands
            self._computed[first] = param
            return param
        first.inputs = ()
        first.fresh = False
        first.name = "parameter"
        first.parameter = param
        first.carries = True
        first.tainted = True
        param.node = first
        if is_a(base, private.ARRAY):
            self.latest[param.key] = weakref.ref(base)
        return param

    def version(self, param: Param, value: Any, where: Where | None, start: Node | None = None) -> Value:
        """``value`` is what a step has made of this parameter."""
        node = Value("parameter", (), where, True)
        node.parameter, node.tainted, node.passes = param, True, True
        node.shape = param.shape
        node.before = start
        node.version = getattr(start, "version", 0) + 1
        self._recorder.put(value, node)
        self.is_now(param, value)
        return node

    def is_now(self, param: Param, value: Any) -> None:
        """This array is the newest version."""
        base = unwrap(value)[0]
        if is_a(base, private.ARRAY):
            self.versions[param.key] = self.versions.get(param.key, 0) + 1
            self.latest[param.key] = weakref.ref(base)
            param.ref = weakref.ref(base)

    def target(self, param: Param, slot: Any, shape: tuple[int, ...]) -> Param:
        """Another copy of a parameter that is read in the same update: a target network's."""
        known = self._targets.get((param.key, slot))
        if known is None:
            known = self._targets[param.key, slot] = Param(_Nobody(), param.made, True, True, shape)
            known.copied_from = param
            known.loaded = True
            known.used = True
            self.params[known.key] = known
        return known


class _Nobody:
    """Stands for an array that is nowhere outside of a traced function."""

    __slots__ = ("__weakref__",)
