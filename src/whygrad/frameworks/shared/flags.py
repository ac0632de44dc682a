"""Zeros and ones that the user holds beside a loss, one for each sample: ``done``, by any name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from whygrad.frameworks.shared.frames import USER, Where, kind_of
from whygrad.frameworks.shared.objects import fields, is_a, items, listed, plain_array, plain_number, size
from whygrad.frameworks.shared.rows import columns
from whygrad.frameworks.shared.scopes import variables_of

_LOOKS = 48  # at the variables beside a line
_FRAMES = 4
_VARIABLES = 64
_LONG = 8192  # samples

Contents = Callable[[Any, int], "list[Any] | None"]  # of a row or column that is not too long; else nothing


class Flags:
    """Their names, with the line beside which they were found."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._looks: dict[Any, int] = {}
        self._found: dict[tuple[Any, str], tuple[Where, str, bool, tuple[int, ...]]] = {}

    def look(self, frame: FrameType | None) -> None:
        """At what is in scope where a loss is differentiated."""
        left = _FRAMES
        while frame is not None and left:
            if kind_of(frame.f_code) == USER:
                left -= 1
                self._look(frame)
            frame = frame.f_back

    def given(self, where: Where, values: Iterable[tuple[str, Any]]) -> None:
        """At what a compiled function is called with, under the names that it has inside."""
        for name, value in values:
            key = ((where.code.co_filename, where.code.co_name), name)
            found = self._flags(value) if key not in self._found else None
            if found is not None:
                self._found[key] = (where, name, any(found[:-1]), _counted(found))

    def all(self) -> list[tuple[Where, str, bool, tuple[int, ...]]]:
        """Lines and names, in the order of their finding; was a one before the last of them, and how many?"""
        return list(self._found.values())

    def _look(self, frame: FrameType) -> None:
        code = frame.f_code
        if self._looks.get(code, 0) >= _LOOKS:
            return
        self._looks[code] = self._looks.get(code, 0) + 1
        variables = dict(list(variables_of(frame).items())[:_VARIABLES])
        named = (pair for name, value in variables.items() for pair in _with_fields(name, value))
        for called, held in (*named, *columns(variables)):
            known = self._found.get((code, called))
            if known is not None and known[2]:
                continue
            found = self._flags(held)
            if found is not None:
                within = any(found[:-1])
                self._found[code, called] = (Where(code, frame.f_lineno), called, within, _counted(found))

    def _flags(self, value: Any) -> list[Any] | None:
        """Both of 0 and 1, and nothing else: one for each sample, or for each step of each environment."""
        found: list[Any] | None = None
        if is_a(value, list, tuple):
            found = [_number(v) for v in listed(value)] if 1 < size(value) <= _LONG else None
        else:
            array = plain_array(value)
            found = self._contents(value, _LONG) if array is None else _in_a_row(array)
        return found if found is not None and _both(set(found)) else None


def _with_fields(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A variable; of a named tuple or a dict what is in it."""
    named = fields(value)
    if named:
        pairs = zip(named, listed(value), strict=False)
        yield from ((f"{name}.{field}", held) for field, held in pairs if type(field) is str)
    elif is_a(value, dict):
        yield from ((f"{name}.{key}", held) for key, held in items(value)[:16] if type(key) is str)
    else:
        yield name, value


def _in_a_row(array: Any) -> list[Any] | None:
    if array.dtype.kind not in "fiub" or not 1 < array.size <= _LONG:
        return None
    return list(array.ravel().tolist()) if array.ndim in (1, 2) else None


def _number(value: Any) -> float | None:
    return float(value) if type(value) is bool else plain_number(value)


def _counted(found: list[Any]) -> tuple[int, ...]:
    return sum(v != 0 for v in found), len(found)


def _both(values: set[Any]) -> bool:
    return len(values) == 2 and 0 in values and 1 in values
