"""By which numbers the terms of a loss are multiplied, and which of them are means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

from whygrad.model import Flow, Kind, Op, Site
from whygrad.model.kinds import SAME_NUMBERS, SCALES, SUMS

_MEANS = frozenset((Kind.MEAN, Kind.LOSS, Kind.CROSS_ENTROPY, Kind.PICKED_LOG, Kind.LOGISTIC))
_MOST = 256


@dataclass(frozen=True, slots=True)
class Scaled:
    """One term: the product of the plain numbers in front of it, and where each of them stands."""

    factor: float
    mean: bool  # what is multiplied is a mean over a batch
    where: tuple[tuple[float, Site | None], ...] = ()


def scaled(flow: Flow, root: int) -> list[Scaled]:
    """Of all terms that carry gradient; nothing if one of them is scaled by what is no plain number."""
    found: list[Scaled] = []
    todo = [(root, Scaled(1.0, mean=False))]
    for _ in range(_MOST):
        if not todo:
            return found
        here, so_far = todo.pop()
        op = flow[here]
        inner = [i for i in op.inputs if flow[i].carries]
        if not op.carries or op.parameter is not None:
            continue
        if op.kind in SUMS and not op.numbers:
            todo.extend((i, so_far) for i in inner)
        elif (op.kind in SAME_NUMBERS or op.kind is Kind.NEGATE) and inner:
            todo.append((inner[0], so_far))
        elif op.kind in SCALES:
            factor = _factor(op)
            if factor is None or len(inner) != 1:
                return []
            place = (*so_far.where, (factor, op.site))
            todo.append((inner[0], replace(so_far, factor=so_far.factor * factor, where=place)))
        else:
            found.append(replace(so_far, mean=_is_mean(op)))
    return []


def _factor(op: Op) -> float | None:
    """The plain number that it multiplies by."""
    if len(op.inputs) != 1 or len(op.numbers) != 1 or (op.swapped and op.kind is Kind.DIVIDE):
        return None
    number = op.numbers[0]
    if op.kind is Kind.DIVIDE:
        return 1 / number if number else None
    return number if isfinite(number) else None


def _is_mean(op: Op) -> bool:
    """A sum may have been asked for where the mean is usual."""
    return op.kind in _MEANS and not op.shape and not (op.site is not None and "sum" in op.site.code)
