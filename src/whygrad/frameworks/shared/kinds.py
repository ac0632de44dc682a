"""From a framework's names of operations to their kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whygrad.model import Kind

_SWAPPED = frozenset(("rsub", "rdiv", "rtruediv", "rpow", "rmatmul", "reciprocal", "inv"))


class Kinds:
    """The vocabulary of one framework, each kind with the names that it has there.

    ``add``, ``add_`` and ``__add__`` are one name, unless the longer one is listed as well. ``alone`` has the
    names that mean something else where there is one operand only: ``max`` of two values, and over actions.
    """

    def __init__(self, names: Mapping[Kind, Iterable[str]], alone: Mapping[Kind, Iterable[str]]) -> None:
        self.names = {name: kind for kind, held in names.items() for name in held}
        self._alone = {name: kind for kind, held in alone.items() for name in held}

    def of(self, name: str, operands: int = 2) -> Kind:
        """The kind of an operation of this name on so many values."""
        plain = name.strip("_")
        if operands == 1 and plain in self._alone:
            return self._alone[plain]
        return self.names.get(name) or self.names.get(plain, Kind.OTHER)


def is_swapped(name: str) -> bool:
    """Does it take its arguments in reverse, as ``__rsub__`` does? ``reciprocal`` is ``1 / x``."""
    return name.strip("_") in _SWAPPED
