"""Along which dimensions a call of torch works, by its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from whygrad.frameworks.shared.axes import counted
from whygrad.frameworks.shared.objects import is_a, listed

_NORMALISING = frozenset(("softmax", "log_softmax"))
_REDUCING = frozenset(
    ("sum", "nansum", "mean", "nanmean", "max", "min", "amax", "amin", "argmax", "argmin", "logsumexp")
)
_SWAPPING = frozenset(("transpose", "swapaxes", "swapdims"))
_REVERSING = frozenset(("t", "T", "mT", "adjoint"))
ALONG = _NORMALISING | _REDUCING | _SWAPPING | _REVERSING | {"permute"}  # worth knowing of these


def axes_of(name: str, arguments: Sequence[Any], rank: int) -> tuple[int, ...]:
    """The dimensions; all of them if none is named; of a transposition, where each one comes from."""
    given = _given(arguments[1:])
    if name in _NORMALISING:
        # torch's own choice where the user makes none
        return counted(_given(arguments[1:2]) or ((0,) if rank in (0, 1, 3) else (1,)), rank)
    if name in _REDUCING:
        of_two = len(arguments) > 1 and is_a(arguments[1], Tensor)
        return () if of_two else counted(given or range(rank), rank)
    if name == "permute":
        return counted(given, rank)
    if name in _REVERSING:
        given = (-2, -1) if rank >= 2 else ()
    return _swapped(counted(given[:2], rank), rank)


def _given(arguments: Sequence[Any]) -> tuple[int, ...]:
    """The whole numbers among them, also in a tuple."""
    found: list[int] = []
    for value in arguments:
        if is_a(value, list, tuple):
            found += [int(item) for item in listed(value) if type(item) is int]
        elif type(value) is int:
            found.append(value)
    return tuple(found)


def _swapped(pair: tuple[int, ...], rank: int) -> tuple[int, ...]:
    if len(pair) != 2:
        return ()
    order = list(range(rank))
    order[pair[0]], order[pair[1]] = pair[1], pair[0]
    return tuple(order)
