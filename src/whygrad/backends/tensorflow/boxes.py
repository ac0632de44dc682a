"""The gradients of compiled updates: raw resources that the traced update puts its gradients into.

Nothing is computed and nothing is copied there: the resource holds the very buffer. Whether anybody looks at
it is decided outside, so no schedule makes a function trace again.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import private

_number = count()
_BRANCHES = ("CondBranchFuncGraph", "WhileCondFuncGraph", "WhileBodyFuncGraph")


class Box:
    """One tensor out of compiled code."""

    def __init__(self, like: Any) -> None:
        self.dtype = like.dtype
        shape = like.shape if like.shape.is_fully_defined() else tf.TensorShape(None)
        name = f"whygrad_summary_{next(_number)}"
        with tf.init_scope():
            self.handle = tf.raw_ops.VarHandleOp(dtype=like.dtype, shape=shape, shared_name=name)
            first = tf.zeros(shape if shape.rank is not None else (0,), like.dtype)
            tf.raw_ops.AssignVariableOp(resource=self.handle, value=first)
        weakref.finalize(self, _destroy, self.handle).atexit = False

    def put(self, tensor: Any) -> None:
        """Called while the update is traced."""
        tf.raw_ops.AssignVariableOp(resource=self.handle, value=tensor)

    def take(self) -> Any:
        """What the last update has put there."""
        return tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=self.dtype)


def _destroy(handle: Any) -> None:
    """Nobody else would: a resource outlives the function that it was made for."""
    with suppress(Exception), tf.init_scope():
        tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)


class Gradient:
    """A gradient out of compiled code, dense or sparse."""

    def __init__(self, gradient: Any) -> None:
        parts = (gradient.values, gradient.indices) if isinstance(gradient, tf.IndexedSlices) else (gradient,)
        self._boxes = [Box(part) for part in parts]
        for box, part in zip(self._boxes, parts, strict=True):
            box.put(part)

    def take(self) -> Any:
        """As the kernel's side knows gradients: a tensor, or values and indices."""
        found = [box.take() for box in self._boxes]
        return tf.IndexedSlices(*found) if len(found) == 2 else found[0]


class Traced:
    """One place in a compiled function that applies gradients."""

    def __init__(
        self,
        optimizer: Any,
        gradients: Sequence[Any],
        raw: Sequence[Any],
        variables: Sequence[Any],
        loss: Any,
    ) -> None:
        self.optimizer = weakref.ref(optimizer)
        self._variables = [weakref.ref(variable) for variable in variables]
        self._gradients = [None if g is None else Gradient(g) for g in gradients]
        self._raw = [None if r is None else Gradient(r) for r in raw]
        self._loss = Gradient(tf.cast(loss, tf.float64)) if loss is not None else None
        self.branch = False  # in a condition or a loop: how often it runs is known only afterwards
        self.twin = False  # another trace of the same: one of the two never runs
        self.last = 1  # how often it ran in the last call
        self.constant_in: Any = None  # and in all calls of this function, a reference
        with tf.init_scope():
            name = f"whygrad_summary_{next(_number)}"
            self._times = tf.raw_ops.VarHandleOp(dtype=tf.int64, shape=(), shared_name=name)
            tf.raw_ops.AssignVariableOp(resource=self._times, value=tf.constant(0, tf.int64))
        tf.raw_ops.AssignAddVariableOp(resource=self._times, value=tf.constant(1, tf.int64))

    def counted(self, graph: Any) -> bool:
        """Must it be asked how often it ran, in a call of this function?"""
        known = self.constant_in is not None and self.constant_in() is graph
        return self.branch or (self.twin and not known)

    def ran(self, graph: Any, times: int) -> None:
        """So often in a call of this function; where nothing is conditional, so often in each."""
        self.last = times
        self.constant_in = None if self.branch else weakref.ref(graph)

    @property
    def variables(self) -> list[Any]:
        """What it updates; the compiled function keeps them alive."""
        found = [ref() for ref in self._variables]
        return [variable for variable in found if variable is not None]

    def times(self) -> int:
        """How often it has run in all."""
        return int(private.contents(tf.raw_ops.ReadVariableOp(resource=self._times, dtype=tf.int64)))

    def gradients(self) -> list[Any]:
        """Of the last update."""
        return [None if g is None else g.take() for g in self._gradients]

    def raw(self) -> list[Any]:
        """The same before they were clipped; nothing for those that were not."""
        return [None if r is None else r.take() for r in self._raw]

    def loss(self) -> Any:
        """What was differentiated, if it is known."""
        return self._loss.take() if self._loss is not None else None


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


def in_a_branch(graph: Any) -> bool:
    """Is this part of a condition or of a loop, at any depth?"""
    while graph is not None:
        if type(graph).__name__ in _BRANCHES:
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
