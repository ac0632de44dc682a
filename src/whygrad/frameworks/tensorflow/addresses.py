"""Where the numbers of TensorFlow's tensors and variables are, as the kernel takes them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.frameworks.shared.objects import shown, shows
from whygrad.frameworks.tensorflow import private
from whygrad.summaries.kernel import KINDS
from whygrad.summaries.stream import Stream, Tensors

_FLOAT32 = KINDS["float32"]
_KINDS = {np.dtype(name): KINDS[name] for name in ("float16", "float32", "float64")}
_BFLOAT16 = np.dtype(tf.bfloat16.as_numpy_dtype)


def name_of(variable: Any) -> str:
    """What the framework calls a variable."""
    return str(shown(variable, "path") or shown(variable, "name")).partition(":")[0]


def handles_of(variables: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Where the variables are, and of which kind."""
    found = [shown(v, "_value", v) for v in variables]  # Keras 3 has its own
    inner = [i if shows(i, "handle") else v for i, v in zip(found, variables, strict=True)]
    return [v.handle for v in inner], [tf.as_dtype(v.dtype) for v in inner]


def values_of(variables: Sequence[Any]) -> list[Any]:
    """What the variables hold now, as tensors that share their memory."""
    return private.read(*handles_of(variables))


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
        found, kind = (None, _FLOAT32) if tensor is None else _memory(tensor)
        count = total = 1 if found is None else found.size
        if len(shapes) > i and isinstance(tensor, tf.IndexedSlices):
            total = math.prod(shapes[i].shape) * (2 if tensor.dtype.is_complex else 1)
        items.append(found)
        counts.append(count)
        totals.append(total)
        kinds.append(kind)
    return Tensors(items, counts, bytes(kinds), totals, [])


def _memory(tensor: Any) -> tuple[Any, int]:
    """The numbers of a tensor, without a copy where that is possible, and their kind."""
    found = _added_up(tensor) if isinstance(tensor, tf.IndexedSlices) else private.contents(tensor)
    kind = _KINDS.get(found.dtype)
    if kind is not None:
        return found, kind
    if found.dtype == _BFLOAT16:
        return found.view(np.uint16), KINDS["bfloat16"]
    if found.dtype.kind == "c":
        real = found.reshape(-1).view(found.real.dtype)
        return real, _KINDS[real.dtype]
    return found.astype(np.float32), _FLOAT32


def _added_up(slices: Any) -> Any:
    """The rows of a sparse gradient, each of them once."""
    rows, where = np.unique(private.contents(slices.indices), return_inverse=True)
    values = private.contents(slices.values)
    found = np.zeros((len(rows), *values.shape[1:]), values.dtype)
    np.add.at(found, where, values)
    return found
