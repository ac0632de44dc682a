"""Gradient values out of compiled code: a box that the traced update writes into, and we read now and then.

The box is a raw resource, made outside of the function: a variable would make the function trace again.
Nothing is computed in most steps: a second box says whether anybody wants to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import tensorflow as tf

_number = count()
_FIGURES = 2  # per gradient: its norm, and its largest absolute value


class Mailbox:
    """What one traced update tells of its gradients."""

    def __init__(self, keys: Sequence[int]) -> None:
        self.keys = tuple(keys)
        with tf.init_scope():
            self._due = _box(tf.constant(True))
            self._content = _box(tf.fill((len(keys), _FIGURES), -1.0))

    def post(self, gradients: Sequence[Any]) -> None:
        """Called while the update is traced: add what writes into the box."""

        def write() -> tf.Tensor:
            figures = tf.stack([_figures(g) for g in gradients])
            tf.raw_ops.AssignVariableOp(resource=self._content, value=figures)
            return tf.constant(True)

        due = tf.raw_ops.ReadVariableOp(resource=self._due, dtype=tf.bool)
        tf.cond(due, write, lambda: tf.constant(False))

    def want(self, yes: bool) -> None:
        """Shall the next steps write?"""
        with tf.init_scope():
            tf.raw_ops.AssignVariableOp(resource=self._due, value=tf.constant(yes))

    def figures(self) -> list[tuple[float, float]] | None:
        """Norm and largest element of each gradient in the last step that wrote; nothing if none did."""
        with tf.init_scope():
            content = tf.raw_ops.ReadVariableOp(resource=self._content, dtype=tf.float32).numpy()
        return None if (content < 0).any() else [(float(norm), float(top)) for norm, top in content]

    def zero(self) -> frozenset[int] | None:
        """The parameters whose gradient was exactly zero; nothing if no step wrote."""
        figures = self.figures()
        if figures is None:
            return None
        return frozenset(key for key, (_, top) in zip(self.keys, figures, strict=True) if top == 0)


def _figures(gradient: Any) -> tf.Tensor:
    values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    flat = tf.cast(tf.reshape(values, (-1,)), tf.float32)
    return tf.stack([tf.norm(flat), tf.reduce_max(tf.abs(flat))])


def _box(initial: tf.Tensor) -> Any:
    name = f"whygrad_{next(_number)}"
    handle = tf.raw_ops.VarHandleOp(dtype=initial.dtype, shape=initial.shape, shared_name=name)
    tf.raw_ops.AssignVariableOp(resource=handle, value=initial)
    return handle
