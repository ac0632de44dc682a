"""The text of source files: as the running program has them, or as they were when a recording was made.

Everything that reads a user's source reads it here. A recording brings its own texts along: what is judged
later is judged by the lines that ran, wherever and whenever that is, and never by the files of today.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from io import StringIO
from types import MappingProxyType
from typing import ParamSpec, TypeVar

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")


class Texts:
    """Source texts by the names of their files. Compared by identity: another recording is another world."""

    __slots__ = ("_lines", "by_file")

    def __init__(self, by_file: Mapping[str, str]) -> None:
        self.by_file = MappingProxyType(dict(by_file))
        self._lines: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """The lines with their ends; none for a file that is not here."""
        known = self._lines.get(file)
        if known is None:
            known = self._lines[file] = list(StringIO(self.by_file.get(file, "")))
        return known


_recorded: ContextVar[Texts | None] = ContextVar("_recorded", default=None)


@contextmanager
def reading(texts: Texts) -> Iterator[None]:
    """Inside, these texts are all the source that there is."""
    token = _recorded.set(texts)
    try:
        yield
    finally:
        _recorded.reset(token)


def recorded() -> Texts | None:
    """The texts that are read instead of files, if there are any."""
    return _recorded.get()


def lines(file: str) -> list[str]:
    """The lines of a file with their ends; none where it cannot be read."""
    texts = _recorded.get()
    return texts.lines(file) if texts is not None else linecache.getlines(file)


def line(file: str, number: int) -> str:
    """One line with its end, empty where there is none."""
    found = lines(file)
    return found[number - 1] if 1 <= number <= len(found) else ""


def remembered(most: int) -> Callable[[Callable[_Args, _Result]], Callable[_Args, _Result]]:
    """``lru_cache`` for questions about source files: what holds for one recording holds for no other."""

    def decorate(function: Callable[_Args, _Result]) -> Callable[_Args, _Result]:
        @lru_cache(maxsize=most)
        def answer(world: Texts | None, *args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
            return function(*args, **kwargs)

        @wraps(function)
        def ask(*args: _Args.args, **kwargs: _Args.kwargs) -> _Result:
            return answer(_recorded.get(), *args, **kwargs)  # type: ignore[arg-type]

        return ask

    return decorate
