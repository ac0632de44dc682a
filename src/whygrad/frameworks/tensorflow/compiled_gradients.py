"""How tensors leave compiled code: raw resources that the traced update puts its gradients into.

Little is computed (see ``apart``) and nothing is copied there: the resource holds the very buffer. Whether
anybody looks at it is decided outside, so no schedule makes a function trace again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import tensorflow as tf

from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.addresses import handles_of
from whygrad.frameworks.tensorflow.apart import apart
from whygrad.frameworks.tensorflow.tapes import current_graph, outermost

_number = count()
_BRANCHES = ("CondBranchFuncGraph", "WhileCondFuncGraph", "WhileBodyFuncGraph")


class Box:
    """One tensor out of compiled code: a resource that the traced update is given."""

    def __init__(self, dtype: Any, shape: Any, first: Callable[[], Any]) -> None:
        self.dtype = dtype
        self.name = f"whygrad_summary_{next(_number)}"
        with tf.init_scope():
            self.handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=self.name)
            tf.raw_ops.AssignVariableOp(resource=self.handle, value=first())
        weakref.finalize(self, _destroy, self.handle).atexit = False


def _destroy(handle: Any) -> None:
    """Nobody else would: a resource outlives the function that it was made for."""
    with suppress(Exception), tf.init_scope():
        tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)


class Parcel:
    """Tensors out of compiled code: all in one box, or each in its own for XLA and other devices.

    The one box is found by its name, so that the function captures nothing of ours and can be saved.
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        """Called while the update is traced."""
        self.together = packs(tf.compat.v1.get_default_graph())
        self._dtypes = [t.dtype for t in tensors]
        self._shapes = [tf.TensorShape(None)] * len(tensors)
        if self.together:
            self._boxes = [Box(tf.variant, (), tf.raw_ops.OptionalNone)]
            name = self._boxes[0].name
            handle = tf.raw_ops.VarHandleOp(dtype=tf.variant, shape=(), shared_name=name)
            packed = tf.raw_ops.OptionalFromValue(components=apart(tensors))
            tf.raw_ops.AssignVariableOp(resource=handle, value=packed)
        else:
            tensors = [tf.constant(True), *tensors]  # the first one says that they are filled
            self._boxes = [_box_like(t) for t in tensors]
            for box, tensor in zip(self._boxes, tensors, strict=True):
                tf.raw_ops.AssignVariableOp(resource=box.handle, value=tensor)
        self.handles, self.dtypes = [b.handle for b in self._boxes], [b.dtype for b in self._boxes]

    def take(self) -> list[Any] | None:
        """What the last update has put there; nothing if there was none."""
        return self.unpack(private.read(self.handles, self.dtypes))

    def unpack(self, contents: list[Any]) -> list[Any] | None:
        """The same for somebody who has read the boxes with others."""
        if not self.together:
            return contents[1:] if private.contents(contents[0]) else None
        if not private.contents(tf.raw_ops.OptionalHasValue(optional=contents[0])):
            return None  # to open an empty one is an error that TensorFlow prints
        found = tf.raw_ops.OptionalGetValue(
            optional=contents[0], output_types=self._dtypes, output_shapes=self._shapes
        )
        return list(found)


def packs(graph: Any) -> bool:
    """Can tensors of this graph leave together?"""
    return private.only_cpu() and not private.in_xla(graph)


def _box_like(tensor: Any) -> Box:
    shape = tensor.shape if tensor.shape.is_fully_defined() else tf.TensorShape(None)
    size = shape if shape.rank is not None else (0,)
    return Box(tensor.dtype, shape, lambda: tf.zeros(size, tensor.dtype))


class Sent:
    """Gradients and other values that leave compiled code together: dense, sparse, or missing."""

    def __init__(self, things: Sequence[Any]) -> None:
        """Called while it is traced."""
        given = [_parts(thing) for thing in things]
        self._sizes = [len(parts) for parts in given]
        self.parcel = Parcel([part for parts in given for part in parts])

    def take(self) -> list[Any] | None:
        """What was sent the last time; nothing if the code has not run."""
        with tf.init_scope():
            return self.whole(self.parcel.take())

    def whole(self, unpacked: list[Any] | None) -> list[Any] | None:
        """The same of a parcel that is open already."""
        if unpacked is None:
            return None
        parts = iter(unpacked)
        return [_whole([next(parts) for _ in range(size)]) for size in self._sizes]


class Taken(NamedTuple):
    """What one compiled update tells."""

    gradients: list[Any]
    raw: list[Any]  # before they were clipped; nothing for those that were not
    loss: Any  # what was differentiated, if it is known
    probes: list[Any]  # other values behind the loss
    values: list[Any]  # of the variables that were asked for


class Traced:
    """One place in a compiled function that applies gradients."""

    def __init__(
        self,
        optimizer: Any,
        gradients: Sequence[Any],
        raw: Sequence[Any],
        variables: Sequence[Any],
        loss: Any,
        probes: Sequence[Any],
        branch: bool,
    ) -> None:
        self.optimizer = weakref.ref(optimizer)
        self._variables = [weakref.ref(variable) for variable in variables]
        self._sent = Sent((*gradients, *raw, loss, *probes))
        self.branch = branch  # in a condition or a loop: how often it runs is known only afterwards
        self.twin = False  # another trace of the same: one of the two never runs
        self.last = 1  # how often it ran in the last call
        self.constant_in: Any = None  # and in all calls of this function, a reference
        self._times: Box | None = None

    def count(self) -> None:
        """Called while it is traced: let it count how often it runs."""
        self._times = Box(tf.int64, (), lambda: tf.constant(0, tf.int64))
        tf.raw_ops.AssignAddVariableOp(resource=self._times.handle, value=tf.constant(1, tf.int64))

    def counted(self, graph: Any) -> bool:
        """Must it be asked how often it ran, in a call of this function?"""
        known = self.constant_in is not None and self.constant_in() is graph
        return self.branch or (self.twin and not known)

    def mark(self) -> list[Any]:
        """Before a call: to be given to ``ran`` afterwards."""
        if self._times is not None:
            return private.read([self._times.handle], [tf.int64])
        return self._sent.parcel.take() or []

    def ran(self, graph: Any, mark: list[Any]) -> int:
        """After the call: so often it ran; where nothing is conditional, so often in each."""
        now = self.mark()
        if self._times is not None:
            self.last = int(now[0]) - int(mark[0])
        else:  # what the mark holds is still there: an update has put its results elsewhere
            self.last = int(_addresses(now) != _addresses(mark))
        self.constant_in = None if self.branch else weakref.ref(graph)
        return self.last

    @property
    def variables(self) -> list[Any]:
        """What it updates; the compiled function keeps them alive."""
        found = [ref() for ref in self._variables]
        return [variable for variable in found if variable is not None]

    def gradients(self) -> list[Any] | None:
        """What was applied in the last update; nothing if there was none."""
        things = self._sent.take()
        return None if things is None else things[: len(self._variables)]

    def take(self, variables: Sequence[Any]) -> Taken | None:
        """What the last update left, and what these variables hold now; nothing if there was no update."""
        handles, dtypes = handles_of(variables)
        parcel, many = self._sent.parcel, len(self._sent.parcel.handles)
        found = private.read([*parcel.handles, *handles], [*parcel.dtypes, *dtypes])
        things = self._sent.whole(parcel.unpack(found[:many]))
        if things is None:
            return None
        each = len(self._variables)
        loss, *probes = things[2 * each :]
        return Taken(things[:each], things[each : 2 * each], loss, probes, found[many:])


def _addresses(tensors: Sequence[Any]) -> list[int]:
    return [private.contents(t).__array_interface__["data"][0] for t in tensors]


def _parts(thing: Any) -> Sequence[Any]:
    """A gradient may be missing, or sparse."""
    if isinstance(thing, tf.IndexedSlices):
        return thing.values, thing.indices
    return () if thing is None else (thing,)


def _whole(parts: list[Any]) -> Any:
    return tf.IndexedSlices(*parts) if len(parts) == 2 else parts[0] if parts else None


#: The places in each compiled function, for as long as it lives: also for a recording that begins later.
PLACES: weakref.WeakKeyDictionary[Any, list[Traced]] = weakref.WeakKeyDictionary()


def found(graph: Any, traced: Traced) -> None:
    """This graph applies gradients here. A function that makes variables is traced twice, and runs once."""
    here = PLACES.setdefault(graph, [])
    if traced not in here:
        here.append(traced)
        twins = [t for t in here if t.optimizer() is traced.optimizer()]
        for twin in twins if len(twins) > 1 else ():
            twin.twin, twin.constant_in = True, None


def nested(graph: Any) -> None:
    """A function that is being traced calls this one."""
    around = current_graph()
    for traced in list(PLACES.get(graph, ())):
        traced.branch = traced.branch or in_a_branch(around)
        found(outermost(around), traced)


def in_a_branch(graph: Any) -> bool:
    """Is this part of a condition or of a loop, at any depth?"""
    while graph is not None:
        if type(graph).__name__ in _BRANCHES:
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
