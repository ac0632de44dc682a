"""Numbers out of torch's gradients and weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.torch import native, private


class TorchNumbers:
    """Read without history, and without a function of the program."""

    def largest(self, gradients: Mapping[int, Tensor]) -> dict[int, float]:
        """The largest element of each gradient; exactly 0 only if all of them are, NaN if one is."""
        found = {key: private.stored(g) if g.is_sparse else g for key, g in gradients.items()}
        found = {key: native.detach(g) for key, g in found.items() if g.numel()}
        try:
            with private.unheard():
                norms = private.largest(list(found.values())) if found else ()
                return dict(zip(found, map(native.item, norms), strict=True))
        except (RuntimeError, NotImplementedError):
            return {}

    def joined(self, gradients: Iterable[Tensor], most: int) -> Tensor | None:
        """The first elements of each gradient, if all are of one kind."""
        with private.unheard():
            parts = [native.first(g, most) for g in gradients if not g.is_sparse]
            kinds = {(p.dtype, p.device) for p in parts}
            return torch.cat(parts) if len(kinds) == 1 and not parts[0].is_complex() else None

    def part(self, param: Param, most: int) -> Tensor | None:
        """A copy of the first elements of a weight."""
        weight = param.ref()
        if weight is None or not _measurable(weight):
            return None
        with private.unheard():
            return native.clone(native.first(weight, most))

    def dot(self, one: Tensor, other: Tensor) -> float:
        """The product of two vectors."""
        with private.unheard():
            return float(native.item(native.dot(one, other)))

    def distance(self, one: Tensor, other: Tensor) -> float:
        """Between two vectors."""
        with private.unheard():
            return self.length(native.minus(one, other))

    def length(self, vector: Tensor) -> float:
        """Of a vector."""
        with private.unheard():
            return float(native.item(torch.linalg.vector_norm(vector)))

    def finite(self, param: Param) -> bool:
        """Are all elements of a weight finite?"""
        weight = param.ref()
        if weight is None or not _measurable(weight):
            return True
        with private.unheard(), suppress(RuntimeError, NotImplementedError):
            return bool(native.item(native.all_of(torch.isfinite(native.detach(weight)))))
        return True


def _measurable(weight: Any) -> bool:
    return bool(weight.is_floating_point() and weight.layout == torch.strided and weight.numel() > 0)
