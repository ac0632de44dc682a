"""Figures of an eager update, read without running an operation; compiled code tells nothing of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, sqrt
from typing import Any

import numpy as np

from whygrad.backends.recording.nodes import Node, Param, Table, cone
from whygrad.backends.recording.records import OptimizerRecord, UpdateRecord
from whygrad.backends.tensorflow import private, weights
from whygrad.model import Moved, Values

_MOST = 1 << 22  # a larger tensor is looked at in its first part
_DIRECTION, _MOTION = 256, 4096
_MEASURED = 3  # of so many recorded updates, the motion of one is measured


def _flat(tensor: Any, most: int = _MOST) -> Any:
    """The numbers in an eager tensor; nothing if there are none."""
    tensor = getattr(tensor, "values", tensor)  # of a sparse gradient
    return _numbers(private.contents(tensor) if isinstance(tensor, private.EAGER_TENSOR) else None, most)


def part(tensor: Any) -> Any:
    """The first numbers in an eager tensor, to see how far they move."""
    return _flat(tensor, _MOTION)


def _numbers(found: Any, most: int) -> Any:
    if found is None or not found.size or found.dtype.kind not in "fV":  # bfloat16 is a void to numpy
        return None
    return found.reshape(-1)[:most].astype(np.float64)


def values_of(tensor: Any) -> Values | None:
    """The extremes of a tensor."""
    return _values(_flat(tensor))


def weights_of(param: Param) -> Values | None:
    """The extremes of a variable."""
    return _values(_weights(param, _MOST))


def _values(flat: Any) -> Values | None:
    return None if flat is None else Values(float(flat.min()), float(flat.max()), float(np.abs(flat).min()))


def scalar(target: Any) -> float | None:
    """The value of a loss."""
    flat = _flat(target)
    return float(flat.sum()) if flat is not None else None  # a tape sums what is differentiated


def look_back(table: Table, roots: Iterable[Node]) -> None:
    """A loss is not finite: look at every value behind it that is still alive."""
    living = table.living()
    for node in cone(roots):
        if node in living and node.values is None:
            node.values = values_of(living[node])


def largest(gradients: Mapping[int, Any]) -> dict[int, float]:
    """The largest element of each gradient; NaN if one is."""
    found = {key: _flat(gradient) for key, gradient in gradients.items()}
    return {key: float(np.abs(flat).max()) for key, flat in found.items() if flat is not None}


def turned(record: OptimizerRecord, number: int, gradients: Iterable[Any]) -> float | None:
    """The cosine between the gradients of this update and those of the one before it."""
    parts = [flat for g in gradients if (flat := _flat(g, _DIRECTION)) is not None]
    now = np.concatenate(parts) if parts else None
    before, record.direction = record.direction, (number, now)
    if now is None or before is None or before[0] != number - 1 or before[1] is None:
        return None
    old = before[1]
    if old.shape != now.shape:
        return None
    dot, a, b = float(old @ now), float(old @ old), float(now @ now)
    return dot / sqrt(a * b) if 0 < a < inf and 0 < b < inf else None


class Motion:
    """How far a step goes: weights before it, compared with those after it."""

    def __init__(self) -> None:
        self._before: tuple[UpdateRecord, dict[int, tuple[Param, Any]]] | None = None

    def begins(self, record: OptimizerRecord, update: UpdateRecord, params: Iterable[Param]) -> None:
        """Keep a part of the weights, at one recorded update of a few."""
        self._before = None
        if record.recorded % _MEASURED == 1:
            kept = {p.key: (p, _weights(p)) for p in params}
            self._before = (update, {key: pair for key, pair in kept.items() if pair[1] is not None})

    def ends(self) -> None:
        """The step is done."""
        if self._before is None:
            return
        update, kept = self._before
        self._before = None
        for key, (param, old) in kept.items():
            now = _weights(param)
            if now is not None and now.shape == old.shape:
                update.moved[key] = Moved(float(np.linalg.norm(now - old)), float(np.linalg.norm(old)))


def broken(param: Param) -> bool:
    """Are the weights not finite any more?"""
    flat = _weights(param, _MOST)
    return flat is not None and not bool(np.isfinite(flat).all())


def _weights(param: Param, most: int = _MOTION) -> Any:
    return _numbers(weights.values_of(param.ref()), most)
