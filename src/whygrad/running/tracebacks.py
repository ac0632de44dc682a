"""Tracebacks as python would have shown them: without a single frame of ours."""

from __future__ import annotations

import os
import site
import sysconfig
from collections.abc import Iterator
from types import CodeType, TracebackType

from whygrad.flow.source import is_library
from whygrad.model import Site

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TRAMPOLINE = "__whygrad_call__"
_IMPORTS = os.path.join(_OURS, "frameworks", "imports.py")


def peel(error: BaseException) -> BaseException:
    """Take our frames off an exception and off all that hang on it (cause, context, group members)."""
    todo, seen = [error], set()
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = peeled(current.__traceback__)
        todo += [e for e in (current.__cause__, current.__context__) if e is not None]
        if isinstance(current, BaseExceptionGroup):
            todo += current.exceptions
    return error


def peeled(traceback: TracebackType | None) -> TracebackType | None:
    """The same traceback without our frames; the very same object where there are none."""
    links = list(_links(traceback))
    drop = _unwanted([link.tb_frame.f_code for link in links])
    if not any(drop):
        return traceback
    result: TracebackType | None = None
    for link, unwanted in zip(reversed(links), reversed(drop), strict=True):
        if not unwanted:
            line = link.tb_lineno if link.tb_lineno is not None else -1  # Ctrl-C may come between two lines
            result = TracebackType(result, link.tb_frame, link.tb_lasti, line)
    return result


def _links(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _unwanted(codes: list[CodeType]) -> list[bool]:
    """Which frames to drop, outermost first."""
    drop = [_is_ours(code) for code in codes]
    for i, code in enumerate(codes):
        if code.co_filename == _IMPORTS:
            _drop_importlib(codes, drop, i)
        elif _hands_over(code) and drop[i + 1 : i + 2] == [True]:
            # torch called our mode from inside its own function, which appears again further in.
            drop[i] = True
            if i > 0:
                drop[i - 1] = True
    return drop


def _is_ours(code: CodeType) -> bool:
    return code.co_name == _TRAMPOLINE or code.co_filename.startswith(_OURS)


def _hands_over(code: CodeType) -> bool:
    file = code.co_filename.replace(os.sep, "/")
    return code.co_name == "handle_torch_function" and file.endswith("torch/overrides.py")


def _drop_importlib(codes: list[CodeType], drop: list[bool], at: int) -> None:
    """Our import hook keeps python from trimming importlib's frames around it: trim them here."""
    for step in (-1, 1):
        i = at + step
        while 0 <= i < len(codes) and codes[i].co_filename.startswith("<frozen importlib"):
            drop[i] = True
            i += step


def user_site(error: BaseException) -> Site | None:
    """The innermost line of the user's own code on the way to this exception."""
    if isinstance(error, SyntaxError) and error.filename and error.__traceback__ is None:
        return Site(error.filename, error.lineno or 0, code=(error.text or "").strip())
    found: TracebackType | None = None
    for link in _links(error.__traceback__):
        if _is_users(link.tb_frame.f_code.co_filename):
            found = link
    if found is None:
        return None
    code = found.tb_frame.f_code
    return Site.read(code.co_filename, found.tb_lineno or 0, code.co_name)


def _is_users(file: str) -> bool:
    return not is_library(file) and not file.startswith(("<", _OURS, *_libraries()))


def _libraries() -> tuple[str, ...]:
    """The directories of python's own library and of what was installed into it."""
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths.update([*site.getsitepackages(), site.getusersitepackages()])
    return tuple(os.path.join(path, "") for path in paths if path)
