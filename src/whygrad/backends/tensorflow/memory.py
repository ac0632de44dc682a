"""Where the numbers of TensorFlow's tensors and variables are, as the kernel takes them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.backends.tensorflow import private
from whygrad.watch.kernel import KINDS
from whygrad.watch.stream import Stream, Tensors


def name_of(variable: Any) -> str:
    """What the framework calls a variable."""
    return str(getattr(variable, "path", "") or variable.name).partition(":")[0]


def values_of(variables: Sequence[Any]) -> list[Any]:
    """What the variables hold now, as tensors that share their memory."""
    found = []
    for variable in variables:
        inner = getattr(variable, "_value", variable)  # Keras 3 has its own
        inner = inner if hasattr(inner, "handle") else variable
        dtype = tf.as_dtype(inner.dtype)
        found.append(tf.raw_ops.ReadVariableOp(resource=inner.handle, dtype=dtype))
    return found


def norms(gradients: Sequence[Any]) -> Sequence[float]:
    """Of gradients of which some are missing."""
    if all(g is None for g in gradients):
        return [math.nan] * len(gradients)
    return Stream.norms(tensors_of(gradients))


def tensors_of(given: Sequence[Any], shapes: Sequence[Any] = ()) -> Tensors:
    """Their memory, as the kernel takes it. ``shapes`` tell the full size of sparse gradients."""
    items: list[Any] = []
    counts, totals, kinds = array("q"), array("q"), bytearray()
    for i, tensor in enumerate(given):
        found = None if tensor is None else _memory(tensor)
        items.append(found)
        count = 1 if found is None else found.size
        sparse = isinstance(tensor, tf.IndexedSlices) and len(shapes) > i
        size = math.prod(shapes[i].shape) if sparse else count
        if found is not None and found.dtype.kind == "c":
            items[-1], count, size = found.view(found.real.dtype), 2 * count, 2 * size
        counts.append(count)
        totals.append(size)
        kinds.append(KINDS["float32"] if found is None else KINDS[_kind(found)])
    return Tensors(items, counts, bytes(kinds), totals, [])


def _kind(found: Any) -> str:
    return "bfloat16" if found.dtype == np.uint16 else str(found.dtype)


def _memory(tensor: Any) -> Any:
    """The numbers of a tensor, without a copy where that is possible."""
    if isinstance(tensor, tf.IndexedSlices):
        rows, where = np.unique(private.contents(tensor.indices), return_inverse=True)
        values = private.contents(tensor.values)
        found = np.zeros((len(rows), *values.shape[1:]), values.dtype)
        np.add.at(found, where, values)
    else:
        found = np.ascontiguousarray(private.contents(tensor))
    if str(found.dtype) == "bfloat16":
        return found.view(np.uint16)
    return found if str(found.dtype) in KINDS else found.astype(np.float32)
