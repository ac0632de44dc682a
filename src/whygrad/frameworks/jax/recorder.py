"""Operations as values: what was computed from what, on which line, whether traced or not."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any

from whygrad.frameworks.jax import private, vocabulary
from whygrad.frameworks.jax.bodies import Bodies
from whygrad.frameworks.jax.values import Tags, Value, here, number_of, origin, unwrap
from whygrad.frameworks.shared.axes import counted
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Table
from whygrad.frameworks.shared.objects import is_a, plain_array
from whygrad.frameworks.shared.values import Outside

_SMALL = 4096
_RECENT = 4096
_SILENT = frozenset(("stage", "random_wrap", "random_unwrap", "random_seed", "pvary", "reduced_vary_cast"))

_LOSSES = ("_loss", "log_cosh", "_entropy", "_error", "_divergence")
_SIGNED = frozenset(("add", "sub", "rsub", "neg"))


class Recorder:
    """The shadow of what is computed while recording is on."""

    def __init__(self) -> None:
        self.table = Table()
        self.outside = Outside()
        self.staged: dict[
            tuple[Any, Tags], Node
        ] = {}  # a variable of a jaxpr, under these calls -> its value
        self._tagged: dict[tuple[int, Tags], tuple[weakref.ref[Any], Node]] = {}
        self.bodies = Bodies(self)
        self.operations = 0  # since the last step
        self.scalars: deque[Value] = deque(maxlen=64)  # floating numbers: perhaps losses
        self._recent: deque[Value] = deque(maxlen=_RECENT)
        self.on_sum: Callable[[Value, Any, Sequence[Any]], None] = lambda value, result, operands: None

    # -- which value is this? ----------------------------------------------------------------------

    def node(self, value: Any, where: Where | None = None) -> Node:
        """The value of an array or a tracer; plain data if nobody saw it being made."""
        base, tags, staged = unwrap(value)
        found = self.known(base, tags, staged)
        if found is not None:
            return found
        return self._data(base, value, where)

    def known(self, base: Any, tags: Tags, staged: Any = None) -> Node | None:
        """The value of this, as the innermost call that differentiates it knows it."""
        if is_a(base, private.VAR):
            for start in range(len(tags) + 1):
                found = self.staged.get((base, tags[start:]))
                if found is not None:
                    return found
            return self.bodies.argument(base, staged)
        for start in range(len(tags)):
            entry = self._tagged.get((id(base), tags[start:]))
            if entry is not None and entry[0]() is base:
                return entry[1]
        return self.table.get(base)

    def put(self, value: Any, node: Node) -> None:
        """From now on ``value`` is ``node``."""
        base, tags, _ = unwrap(value)
        self.put_base(base, tags, node)

    def put_base(self, base: Any, tags: Tags, node: Node) -> None:
        """The same, of a bare value under these calls."""
        if is_a(base, private.VAR):
            self.staged[base, tags] = node
        elif is_a(base, private.ARRAY) or plain_array(base) is base:
            if tags:
                self._tagged[id(base), tags] = (weakref.ref(base), node)
            else:
                self.table.put(base, node)

    def forget(self, tag: Any) -> None:
        """A call that differentiates is over: nobody has its tracers any more."""
        self._tagged = {key: entry for key, entry in self._tagged.items() if tag not in key[1]}

    def _data(self, base: Any, value: Any, where: Where | None) -> Node:
        number = number_of(base)
        sources: list[Node] = []
        via = ""
        array = plain_array(base)
        if array is not None and array.dtype.kind == "f" and 0 < array.size <= _SMALL:
            sources, via = self.outside.of_data(array)
        node = Value("data", tuple(sources), where, False)
        node.fresh, node.via, node.number = True, via, number
        node.shape = private.shape_of(value) or ()
        node.floating = private.floating(value)
        if number is None:
            self.put_base(base, (), node)
        return node

    # -- operations --------------------------------------------------------------------------------

    def operation(
        self, primitive: Any, args: Sequence[Any], params: Any, result: Any, frame: FrameType
    ) -> None:
        """One operation, as the user wrote it."""
        name = vocabulary.spoken(primitive.name, params)
        if name in _SILENT:
            return
        self.operations += 1
        results = result if type(result) in (list, tuple) else (result,)
        if self.bodies.called(primitive.name, params, args, results, frame):
            return
        self.atom(primitive, name, params, args, results, here(frame))

    def atom(
        self,
        primitive: Any,
        name: str,
        params: Any,
        args: Sequence[Any],
        results: Iterable[Any],
        where: Where | None,
    ) -> None:
        """An operation that is not looked into."""
        name, numbers, kept = vocabulary.arithmetic(name, [number_of(unwrap(a)[0]) for a in args])
        if name == "where" and len(args) == 3 and primitive.name == "select_n":
            kept = [i for i in (0, 2, 1) if i in kept]
        operands = [args[i] for i in kept]
        sources = tuple(self.node(a, where) for a in operands)
        may = vocabulary.passes(primitive, name)
        name = _within(name, sources, where)
        axes = vocabulary.axes_of(params)
        flowing = frozenset(tag for a in args for tag in unwrap(a)[1])
        for one in results:
            base, tags, _ = unwrap(one)
            if base is None:
                continue
            value = Value(name, sources, where, False)
            value.numbers = numbers or (vocabulary.exponent(params) if name == "pow" else ())
            value.shape = private.shape_of(one) or ()
            value.floating = private.floating(one)
            value.passes = value.carries = may and value.floating and (not flowing or bool(tags))
            if sources and axes is not None:
                rank = len(sources[0].shape)
                value.axes = counted(axes, rank)
            elif sources and name in ("sum", "mean", "max", "min"):
                value.axes = tuple(range(len(sources[0].shape)))
            if all(source is not value for source in sources):
                self.put_base(base, tags, value)
            if value.shape == () and value.floating and value.carries and sources:
                self.scalars.append(value)
            if value.graded and value.floating and len(operands) == 2:
                self.on_sum(value, one, operands)

    def compiled(
        self,
        jaxpr: Any,
        args: Sequence[Any],
        results: Sequence[Any],
        name: str,
        params: Any,
        frame: FrameType,
    ) -> None:
        """Eager code has called a compiled function."""
        self.operations += 1
        if self.bodies.called("jit", params, args, results, frame):
            return
        self.atom(private.JIT, vocabulary.spoken("jit", params), params, args, results, here(frame))

    def left(self, name: str, array: Any, value: Any, frame: FrameType) -> None:
        """A value leaves JAX as a number or an array."""
        source = self.known(*unwrap(array))
        if source is None or source.fresh or origin(source).fresh:
            return
        consumed = source.consumed
        node = Value(name, (source,), here(frame), False)
        source.consumed = consumed
        node.left = True
        node.shape = source.shape
        if is_a(value, float, list):
            self.outside.numbers(value, node)
        elif plain_array(value) is not None:
            self.outside.array(value, node)
        self.outside.exits.append(node)


def _within(name: str, sources: tuple[Node, ...], where: Where | None) -> str:
    """Arithmetic in the middle of a loss of Optax says nothing of what the user has added or subtracted."""
    api = where.api if where is not None else None
    if api is None or not api.co_name.endswith(_LOSSES) or "optax" not in api.co_filename:
        return name
    inner = any(s.where is not None and s.where.api is api for s in sources)
    return api.co_name if inner and name in _SIGNED else name
