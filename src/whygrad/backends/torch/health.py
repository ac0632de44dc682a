"""Figures of an update: how large its gradients were, which way they point, how far the step went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf, sqrt
from typing import Any

import torch
from torch import Tensor

from whygrad.backends.recording.nodes import Param
from whygrad.backends.recording.records import OptimizerRecord, UpdateRecord
from whygrad.model import Moved

_DIRECTION, _MOTION = 256, 4096  # elements of each parameter by which direction and motion are judged
_MEASURED = 3  # of so many recorded updates, the motion of one is measured
_MOTIONS = 32  # and of later ones none: few runs record more


def largest(gradients: Mapping[int, Tensor]) -> dict[int, float]:
    """The largest element of each gradient; exactly 0 only if all of them are, NaN if one is."""
    found = {key: g._values() if g.is_sparse else g for key, g in gradients.items()}
    found = {key: g.detach() for key, g in found.items() if g.numel()}
    try:
        with torch._C.DisableTorchFunction():
            norms = torch._foreach_norm(list(found.values()), inf) if found else ()
            return dict(zip(found, map(float, norms), strict=True))
    except (RuntimeError, NotImplementedError):
        return {}


def turned(record: OptimizerRecord, number: int, gradients: Iterable[Tensor]) -> float | None:
    """The cosine between the gradients of this update and those of the one before it."""
    with torch._C.DisableTorchFunction():
        parts = [g.detach().reshape(-1)[:_DIRECTION] for g in gradients if not g.is_sparse]
        now = torch.cat(parts) if parts and len({(p.dtype, p.device) for p in parts}) == 1 else None
        before, record.direction = record.direction, (number, now)
        if now is None or now.is_complex() or before is None or before[0] != number - 1:
            return None
        old = before[1]
        if old is None or old.shape != now.shape:
            return None
        dot, a, b = float(old @ now), float(old @ old), float(now @ now)
    return dot / sqrt(a * b) if 0 < a < inf and 0 < b < inf else None


class Motion:
    """How far a step goes: weights before it, compared with those after it."""

    def __init__(self) -> None:
        self._before: tuple[UpdateRecord, dict[int, tuple[Tensor, Tensor]]] | None = None

    def begins(self, record: OptimizerRecord, update: UpdateRecord, weights: Mapping[int, Tensor]) -> None:
        """Keep a part of the weights, at one recorded update of a few."""
        self._before = None
        optimizer = record.ref()
        warm = optimizer is not None and all(group.get("lr", 1) != 0 for group in optimizer.param_groups)
        # A warm-up may begin with a learning rate of zero.
        if warm and record.recorded % _MEASURED == 1 and record.recorded < _MOTIONS:
            with torch._C.DisableTorchFunction():
                kept = {key: (w, _part(w).clone()) for key, w in weights.items() if _measurable(w)}
            self._before = (update, kept)

    def forget(self) -> None:
        """It cannot be told."""
        self._before = None

    def ends(self) -> None:
        """The step is done."""
        if self._before is None:
            return
        update, kept = self._before
        self._before = None
        with torch._C.DisableTorchFunction():
            for key, (weight, old) in kept.items():
                now = _part(weight)
                if now.shape == old.shape:
                    change = float(torch.linalg.vector_norm(now - old))
                    update.moved[key] = Moved(change, float(torch.linalg.vector_norm(old)))


def broken(param: Param) -> bool:
    """Are the weights not finite any more?"""
    weight = param.ref()
    if weight is None or not _measurable(weight):
        return False
    with torch._C.DisableTorchFunction(), suppress(RuntimeError, NotImplementedError):
        return not bool(torch.isfinite(weight.detach()).all())
    return False


def _part(weight: Tensor) -> Tensor:
    return weight.detach().reshape(-1)[:_MOTION]


def _measurable(weight: Any) -> bool:
    return weight.is_floating_point() and weight.layout == torch.strided and weight.numel() > 0
