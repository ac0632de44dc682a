"""Compiled functions: where the user made them."""

from __future__ import annotations

import weakref
from types import FrameType, FunctionType
from typing import Any

from whygrad.flow.source import definition_line
from whygrad.frameworks.shared.frames import USER, Told, Where, kind_of
from whygrad.frameworks.shared.objects import code_of, is_a, own
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.tensorflow import private

_MOST_WRAPPERS = 64


class Functions:
    """Every ``tf.function`` and its place in the user's source."""

    def __init__(self) -> None:
        self._made: weakref.WeakKeyDictionary[Any, Where | None] = weakref.WeakKeyDictionary()

    def made(self, function: Any, where: Where | None) -> None:
        """A new one."""
        self._made[function] = where

    def place_of(self, frame: FrameType | None) -> Where | None:
        """Of the outermost function that is being called from here."""
        found = self._called(frame)
        return self._place(found) if found is not None else None

    def arguments_of(self, frame: FrameType | None) -> tuple[Where, tuple[str, ...]] | None:
        """Where the function that is being called from here begins, and what its arguments are called."""
        found = self._called(frame)
        code = code_of(_unwrapped(found.python_function)) if found is not None else None
        if code is None or kind_of(code) != USER:
            return None
        names = tuple(n for n in code.co_varnames[: code.co_argcount] if n != "self")
        return Where(Told(code.co_filename, code.co_name), code.co_firstlineno + 1), names

    def _called(self, frame: FrameType | None) -> Any:
        found = None
        while frame is not None:
            if frame.f_code.co_name == "__call__" and private.FUNCTION is not None:
                owner = variables_of(frame).get("self")
                if is_a(owner, private.FUNCTION):
                    found = owner
            frame = frame.f_back
        return found

    def _place(self, function: Any) -> Where | None:
        """The line of its ``def``, or the line that compiled something which has none."""
        code = code_of(_unwrapped(function.python_function))
        made = self._made.get(function)
        if code is None or kind_of(code) != USER:
            return made
        line = definition_line(code.co_filename, code.co_firstlineno)
        if made is not None and line == code.co_firstlineno:
            return made  # not by a decorator: by a call, somewhere else
        return Where(Told(code.co_filename, code.co_name), line)


def _unwrapped(function: Any) -> Any:
    """The function behind decorators that say what they wrap; no object of the user's is asked for it."""
    for _ in range(_MOST_WRAPPERS):
        if not is_a(function, FunctionType):
            break
        inner = own(function).get("__wrapped__")
        if inner is None:
            break
        function = inner
    return function
