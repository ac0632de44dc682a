"""The same dropout for both sides: the stored mask where it fits, else one that the shape decides."""

from __future__ import annotations

import numpy as np

from whygrad.zoo.parity.case import Batch


class Masks:
    """Hands out masks, and remembers that it was asked."""

    def __init__(self, batch: Batch, dropout: str = "scaled"):
        self.stored, self.dropout, self.asked = batch.dropout_mask, dropout, 0

    def mask(self, shape: tuple[int, ...], rate: float) -> np.ndarray:
        """What to multiply with."""
        self.asked += 1
        if self.dropout == "none":
            return np.ones(shape, np.float32)
        if self.stored is not None and self.stored.shape == shape:
            kept = self.stored > 0
        else:
            kept = np.random.default_rng(list(shape)).random(shape) >= rate
        return kept.astype(np.float32) / np.float32(1.0 if self.dropout == "unscaled" else 1 - rate)
