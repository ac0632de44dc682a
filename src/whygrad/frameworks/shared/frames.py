"""Whose line is this? From a Python frame to the line that the user would look at."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

from whygrad.model import Site
from whygrad.model.frameworks import PACKAGES

USER, LIBRARY, FRAMEWORK, INVISIBLE, RUNNER = range(5)

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_RUNNING = PACKAGE + "running" + os.sep  # runs the script: whoever called it is not the user's code
_AGENTS = os.path.join(PACKAGE, "zoo", "agents", "")  # shipped with us, run like anybody's script
_STDLIB = tuple({sysconfig.get_path("stdlib") + os.sep, sysconfig.get_path("platstdlib") + os.sep})
_SITE = tuple({sysconfig.get_path("purelib") + os.sep, sysconfig.get_path("platlib") + os.sep})
_FRAMEWORKS = PACKAGES | {"numpy", "tree"}  # and what they are built on
_TRAMPOLINE = "__whygrad_call__"
_MOST = 20_000  # places that are remembered
_DEEP = 2 * 5  # how many lines of a call stack are kept (code and line each)

_kinds: dict[CodeType | Told, int] = {}


def _classify(code: CodeType | Told) -> int:
    """Is this code the user's, a library's, the framework's, or nobody's business?"""
    name = code.co_filename
    if code.co_name == _TRAMPOLINE or name.startswith(PACKAGE):
        if name.startswith(_RUNNING):
            return RUNNER
        return USER if name.startswith(_AGENTS) else INVISIBLE
    packages = [p for p in name.split(os.sep)[:-1] if p in ("site-packages", "dist-packages")]
    if name.startswith(_SITE) or packages:
        marker = "dist-packages" if "dist-packages" in packages else "site-packages"
        top = name.rpartition(os.sep + marker + os.sep)[2].split(os.sep)[0]
        return FRAMEWORK if top in _FRAMEWORKS else LIBRARY
    if name.startswith(_STDLIB) or name.startswith("<frozen "):
        return INVISIBLE
    return USER


def kind_of(code: CodeType | Told) -> int:
    """``_classify``, remembered."""
    kind = _kinds.get(code)
    if kind is None:
        if len(_kinds) > _MOST:
            _kinds.clear()
        kind = _kinds[code] = _classify(code)
    return kind


@dataclass(frozen=True, slots=True)
class Told:
    """Stands for a code object where a framework only tells of a frame."""

    co_filename: str
    co_name: str

    @property
    def co_qualname(self) -> str:
        """Nobody told the class."""
        return self.co_name


class Where:
    """A place: the innermost line outside the framework, how the framework was entered from it, and
    the lines that called it, as far as they are not the framework's either."""

    __slots__ = ("api", "code", "line", "outer")

    def __init__(
        self,
        code: CodeType | Told,
        line: int,
        api: CodeType | Told | None = None,
        outer: tuple[Where, ...] = (),
    ) -> None:
        self.code, self.line, self.api, self.outer = code, line, api, outer

    def site(self) -> Site:
        """As the model knows it."""
        return Site.read(self.code.co_filename, self.line, _written_name(self.code.co_name))

    def call(self) -> str:
        """The framework's own function that the line called, e.g. ``Normal.sample``; or nothing."""
        return self.api.co_qualname if self.api is not None else ""


def _written_name(function: str) -> str:
    """As the user calls it: a compiler gives the rest of a function a name of its own."""
    _, resumed, rest = function.partition("torch_dynamo_resume_in_")
    return rest.rpartition("_at_")[0] if resumed else function


_places: dict[tuple[Any, ...], Where] = {}


def locate(frame: FrameType | None) -> Where | None:
    """The place that a person would look at, for an operation called from ``frame``."""
    api = None
    key: list[Any] = []
    theirs = False  # has a line of the user been among them, or only libraries?
    while frame is not None and (len(key) < _DEEP or not theirs):
        code = frame.f_code
        try:
            kind = _kinds[code]  # a call of get would take longer than all the rest
        except KeyError:
            kind = kind_of(code)
        if kind == FRAMEWORK:
            if not key:
                api = code
        elif kind == USER or (kind == LIBRARY and len(key) < _DEEP):
            key += (code, frame.f_lineno)
            theirs = theirs or kind == USER
        elif kind == RUNNER:
            break
        frame = frame.f_back
    return _place(key, api)


def told(frames: Iterable[tuple[str, int, str]]) -> Where | None:
    """The same for frames that a framework tells of: file, line and function, innermost first."""
    api = None
    key: list[Any] = []
    theirs = False
    for file, line, function in frames:
        if len(key) >= _DEEP and theirs:
            break
        code = Told(file, function)
        kind = kind_of(code)
        if kind == FRAMEWORK:
            if not key:
                api = code
        elif kind == USER or (kind == LIBRARY and len(key) < _DEEP):
            key += (code, line)
            theirs = theirs or kind == USER
        elif kind == RUNNER:
            break
    return _place(key, api)


def _place(key: list[Any], api: CodeType | Told | None) -> Where | None:
    if not key:
        return None
    key.append(api)
    found = _places.get(tuple(key))
    if found is None:
        if len(_places) > _MOST:  # code that is made while the program runs
            _places.clear()
        outer = tuple(Where(key[i], key[i + 1]) for i in range(2, len(key) - 1, 2))
        found = _places[tuple(key)] = Where(key[0], key[1], api, outer)
    return found


def stack(frame: FrameType | None, most: int = 12) -> tuple[Where, ...]:
    """All lines outside the framework from here outwards, innermost first."""
    places: list[Where] = []
    while frame is not None and len(places) < most:
        kind = kind_of(frame.f_code)
        if kind == RUNNER:
            break
        if kind in (USER, LIBRARY):
            places.append(Where(frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(places)


def plain_call(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call and nothing else."""
    return func(*args, **kwargs)


_trampolines: dict[tuple[CodeType, int], Callable[..., Any]] = {}


def trampoline(frame: FrameType) -> Callable[..., Any]:
    """A caller that looks like ``frame``, so that a warning names the user's line and not ours.

    Warnings take file, line and their once-per-place memory from the frame that calls; ours would
    change what the user sees on stderr. ``handle_torch_function`` stands between a torch function
    written in Python and us: the true caller is two frames further out.
    """
    if frame.f_code.co_name == "handle_torch_function":
        outer = frame.f_back.f_back if frame.f_back is not None else None
        frame = outer if outer is not None else frame
    key = (frame.f_code, frame.f_lineno)
    call = _trampolines.get(key)
    if call is None:
        if len(_trampolines) > _MOST:
            _trampolines.clear()
        code = plain_call.__code__.replace(
            co_filename=key[0].co_filename,
            co_firstlineno=key[1],
            co_name=_TRAMPOLINE,
            co_qualname=_TRAMPOLINE,
            co_linetable=_one_line_table(len(plain_call.__code__.co_code) // 2),
        )
        call = _trampolines[key] = FunctionType(code, frame.f_globals, _TRAMPOLINE)
    return call


def _one_line_table(units: int) -> bytes:
    """A line table (PEP 657 form) that puts every instruction on the first line, without columns."""
    table = bytearray()
    while units > 0:
        length = min(units, 8)
        table += bytes((0x80 | (13 << 3) | (length - 1), 0))
        units -= length
    return bytes(table)
