"""How large gradients are in compiled code: the traced update puts them into a parcel, and we look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.compiled_gradients import Parcel


class Mailbox:
    """What one traced update tells of its gradients."""

    def __init__(self, keys: Sequence[int], gradients: Sequence[Any]) -> None:
        """Called while the update is traced."""
        self.keys = tuple(keys)
        dense = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
        self._parcel = Parcel(dense)

    def figures(self) -> list[tuple[float, float]] | None:
        """Norm and largest element of each gradient in the last step; nothing if there was none."""
        with tf.init_scope():
            found = self._parcel.take()
        return None if found is None else [_figures(private.contents(tensor)) for tensor in found]

    def zero(self) -> frozenset[int] | None:
        """The parameters whose gradient was exactly zero; nothing if there was no step."""
        figures = self.figures()
        if figures is None:
            return None
        return frozenset(key for key, (_, top) in zip(self.keys, figures, strict=True) if top == 0)


def _figures(content: Any) -> tuple[float, float]:
    flat = content.ravel().astype(np.float64)
    return float(np.linalg.norm(flat)), float(np.abs(flat).max(initial=0.0))
