"""The variables of a running program, read without leaving a trace, and what they hold."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from inspect import CO_OPTIMIZED
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any

from whygrad.flow.source import loop_names
from whygrad.frameworks.shared.frames import LIBRARY, PACKAGE, USER, kind_of
from whygrad.frameworks.shared.objects import (
    attributes,
    class_name,
    is_a,
    items,
    members,
    package_of,
    shows,
    size,
    subscript,
)
from whygrad.model.frameworks import PACKAGES

_WIDE = 256
_FAR = 6  # functions within functions are no further away than this
_LIBRARIES = 8  # frames of libraries that are looked at
_HIDDEN = 2  # steps to a name that stands for something else, or that no other function can see
_FOREIGN = PACKAGES | {
    "numpy",
    "builtins",
    "whygrad",
    "collections",
    "threading",
    "logging",
    "gymnasium",
    "gym",
}
Root = tuple[str, Any, int]  # a variable, what it holds, and how many steps it is away
_PLAIN = (str, int, float, type, ModuleType)
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, CodeType)


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame.

    Python before 3.13 keeps the dict that it hands out, and with it every tensor in there: it is emptied
    again, unless somebody else has asked for it too.
    """
    kept = frame.f_locals
    if type(kept) is not dict and package_of(type(kept)) != "builtins":
        return dict(items(kept))  # the body of a class whose metaclass brings its own mapping
    found = dict(kept)
    of_a_function = frame.f_code.co_flags & CO_OPTIMIZED
    if sys.version_info < (3, 13) and of_a_function and sys.getrefcount(kept) <= 3:
        kept.clear()
    return found


def is_opaque(value: Any) -> bool:
    """Nothing to look at in there: numbers, texts, classes, modules."""
    return value is None or is_a(value, *_PLAIN)


def is_plain(value: Any) -> bool:
    """An object of the user's own making, with attributes to look at."""
    if is_a(value, *_PLAIN, bytes, complex, *_FUNCTIONS):
        return False
    return shows(value, "__dict__") and package_of(type(value)) not in _FOREIGN


def ours(error: BaseException) -> str:
    """An exception that was raised in our own code, in one line; nothing for one of somebody else's."""
    frame = innermost(error.__traceback__)
    if frame is None or not frame.f_code.co_filename.startswith(PACKAGE):
        return ""
    return f"{type(error).__name__}: {error} ({frame.f_code.co_filename}:{frame.f_lineno})"


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a container or a plain object holds, with how one writes it."""
    if is_a(value, dict):
        for key, held in items(value)[:_WIDE]:
            yield subscript(key), held
    elif is_a(value, list, tuple, deque, set):
        if size(value) <= _WIDE:
            for index, held in enumerate(members(value)):
                yield f"[{index}]", held
    elif type(value) is partial:
        for index, held in enumerate(value.args):
            yield f".args[{index}]", held
    elif is_plain(value):
        for attribute, held in attributes(value)[:_WIDE]:
            yield f".{attribute}", held


def variables(namespace: Mapping[str, Any], frame: FrameType | None) -> tuple[list[Root], list[Root]]:
    """The names in scope, from the script's own inwards; ``self`` goes by its class.

    The further inside, the further away: a function calls all agents ``agent`` that its caller calls
    ``agents[0]`` and ``agents[1]``. The names that loops give come apart, for what has no other: ``n`` in
    ``for n in (actor, critic)``.
    """
    frames: list[FrameType] = []
    theirs: list[FrameType] = []
    while frame is not None:
        kind = kind_of(frame.f_code)
        if kind == USER:
            frames.append(frame)
        elif kind == LIBRARY and len(theirs) < _LIBRARIES:
            theirs.append(frame)
        frame = frame.f_back
    scopes: list[tuple[str, Mapping[str, Any], int]] = [(_file(namespace), namespace, 0)]
    for held in reversed(frames):
        if not any(held.f_globals is scope for _, scope, _ in scopes):
            scopes.append((held.f_code.co_filename, held.f_globals, 1))
    functions = [held for held in reversed(frames) if held.f_code.co_name != "<module>"]
    for depth, held in enumerate(functions):
        scopes.append((held.f_code.co_filename, variables_of(held), min(2 * depth, _FAR)))
    scopes += [("", variables_of(held), _FAR + _HIDDEN) for held in reversed(theirs)]  # a trainer's own names
    lasting: list[Root] = []
    passing: list[Root] = []
    for file, scope, far in scopes:
        loops = loop_names(file)
        for name, value, further in _named(scope):
            (passing if name in loops else lasting).append((name, value, far + further))
    return lasting, passing


def _file(namespace: Mapping[str, Any]) -> str:
    found = namespace.get("__file__")
    return found if type(found) is str else ""


def _named(scope: Mapping[str, Any]) -> list[Root]:
    found: list[Root] = []
    for name, value in items(scope):
        if type(name) is not str or name.startswith("__"):
            continue
        found.append((class_name(value), value, _HIDDEN) if name == "self" else (name, value, 0))
        if type(value) is FunctionType and value.__closure__:
            found += [(inner, held, _HIDDEN) for inner, held in _closed_over(value)]
    return found


def _closed_over(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables of a function that has returned, which an inner function of it keeps."""
    if kind_of(function.__code__) != USER:
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # nothing is in there yet
            yield class_name(cell.cell_contents) if name == "self" else name, cell.cell_contents


def innermost(traceback: TracebackType | None) -> FrameType | None:
    """The frame in which an exception was raised."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame if traceback is not None else None
