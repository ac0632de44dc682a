"""Numbers out of TensorFlow's gradients and variables, read without running an operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.tensorflow import private, weights
from whygrad.model import Values

_MOST = 1 << 22  # a larger tensor is looked at in its first part


class TensorFlowNumbers:
    """Of eager tensors; compiled code tells nothing of them."""

    def largest(self, gradients: Mapping[int, Any]) -> dict[int, float]:
        """The largest element of each gradient; NaN if one is."""
        found = {key: first(gradient) for key, gradient in gradients.items()}
        return {key: float(np.abs(flat).max()) for key, flat in found.items() if flat is not None}

    def joined(self, gradients: Iterable[Any], most: int) -> Any:
        """The first elements of each gradient."""
        parts = [flat for g in gradients if (flat := first(g, most)) is not None]
        return np.concatenate(parts) if parts else None

    def part(self, param: Param, most: int) -> Any:
        """A copy of the first elements of a variable."""
        return _numbers(weights.values_of(param.ref()), most)

    def dot(self, one: Any, other: Any) -> float:
        """The product of two vectors."""
        return float(one @ other)

    def distance(self, one: Any, other: Any) -> float:
        """Between two vectors."""
        return self.length(one - other)

    def length(self, vector: Any) -> float:
        """Of a vector."""
        return float(np.linalg.norm(vector))

    def finite(self, param: Param) -> bool:
        """Are all elements of a variable finite?"""
        flat = self.part(param, _MOST)
        return flat is None or bool(np.isfinite(flat).all())


def first(tensor: Any, most: int = _MOST) -> Any:
    """The first numbers in an eager tensor; nothing if there are none."""
    tensor = getattr(tensor, "values", tensor)  # of a sparse gradient
    return _numbers(private.contents(tensor) if is_a(tensor, private.EAGER_TENSOR) else None, most)


def _numbers(found: Any, most: int) -> Any:
    if found is None or not found.size or found.dtype.kind not in "fV":  # bfloat16 is a void to numpy
        return None
    return found.reshape(-1)[:most].astype(np.float64)


def values_of(tensor: Any) -> Values | None:
    """The extremes of a tensor."""
    return _values(first(tensor))


def weights_of(param: Param) -> Values | None:
    """The extremes of a variable."""
    return _values(_numbers(weights.values_of(param.ref()), _MOST))


def _values(flat: Any) -> Values | None:
    return None if flat is None else Values(float(flat.min()), float(flat.max()), float(np.abs(flat).min()))


def scalar(target: Any) -> float | None:
    """The value of a loss."""
    flat = first(target)
    return float(flat.sum()) if flat is not None else None  # a tape sums what is differentiated
