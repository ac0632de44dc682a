"""Makes one function of ours raise when it is called, wherever it stands: in a class, in a closure, in a thread.

A module's source is compiled again with one statement more, and the functions that are there get the new code.
"""

from __future__ import annotations

import ast
import builtins
import gc
import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import whygrad

ROOT = Path(whygrad.__file__).parent
#: Rooms that no watched program runs through, and the entrance, behind which there is nobody to step aside.
ELSEWHERE = ("agents", "tfjs", "parity", "playing", "reporters/templates")
_HOOK = "__whygrad_fault__"


@dataclass(frozen=True, order=True)
class Place:
    """A function: its file below the package, its qualified name and its first line."""

    file: str
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}"


def files() -> list[str]:
    """The files of all rooms that a watched program may run through."""
    found = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")]
    return sorted(f for f in found if not f.startswith(ELSEWHERE))


def load_everything() -> None:
    """Import all of them, as far as their frameworks are there."""
    for file in files():
        if not file.endswith("__main__.py") and "frameworks/" not in file:
            importlib.import_module(
                "whygrad." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            )


def functions() -> dict[CodeType, FunctionType]:
    """Every function of ours that is there now, by its code. Look before objects are frozen."""
    here = str(ROOT) + os.sep
    found = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(here):
            found[thing.__code__] = thing
    return found


def places() -> list[Place]:
    """Every function that can be made to fail."""
    return [place for file in files() for place in _places(file)]


def _places(file: str) -> Iterator[Place]:
    code = compile((ROOT / file).read_text(encoding="utf-8"), str(ROOT / file), "exec")
    todo = [(code, True)]
    while todo:
        current, outermost = todo.pop()
        for inner in current.co_consts:
            if isinstance(inner, CodeType):
                todo.append((inner, False))
        if not outermost and _is_function(current):
            yield Place(file, current.co_qualname, current.co_firstlineno)


def _is_function(code: CodeType) -> bool:
    optimized = bool(code.co_flags & 0x1)
    return optimized and not code.co_name.startswith("<")


class Injector:
    """Knows the live functions; ``inject`` changes them, so call it in a child of this process."""

    def __init__(self) -> None:
        self._live = functions()

    def inject(self, where: dict[str, set[Place]], hook: Callable[[Place], bool]) -> None:
        """From now on each of these functions asks ``hook``, with its place, whether it shall fail."""
        numbers: dict[int, Place] = {}
        setattr(builtins, _HOOK, lambda number: hook(numbers[number]))
        for file, wanted in where.items():
            changed = _compiled(file, wanted, numbers)
            for code, function in self._live.items():
                if code.co_filename == str(ROOT / file):
                    new = changed.get((code.co_qualname, code.co_firstlineno))
                    if new is not None and new.co_freevars == code.co_freevars:
                        function.__code__ = new


_numbers = count()


def _compiled(file: str, wanted: set[Place], numbers: dict[int, Place]) -> dict[tuple[str, int], CodeType]:
    """The code of every function of a file, with the hook in those that are wanted."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    _insert(tree, "", {(p.name, p.line): p for p in wanted}, numbers)
    code = compile(ast.fix_missing_locations(tree), str(ROOT / file), "exec")
    found: dict[tuple[str, int], CodeType] = {}
    todo: list[CodeType] = [code]
    while todo:
        current = todo.pop()
        found[current.co_qualname, current.co_firstlineno] = current
        todo += [c for c in current.co_consts if isinstance(c, CodeType)]
    return found


def _beginning(function: ast.FunctionDef) -> tuple[list[ast.stmt], int] | None:
    """Where a function can first fail: at its start, or in a door where it first does anything of ours."""
    if is_door(function):
        return next(((node.body, 0) for node in ast.walk(function) if is_guard(node)), None)
    return function.body, int(ast.get_docstring(function) is not None)


def is_door(function: ast.FunctionDef) -> bool:
    """Marked as one?"""
    return any(isinstance(d, ast.Name) and d.id == "door" for d in function.decorator_list)


def is_guard(node: ast.AST) -> bool:
    """``try`` with ``except Exception``, or ``with suppress(Exception)``."""
    if isinstance(node, ast.Try):
        return any(isinstance(h.type, ast.Name) and h.type.id == "Exception" for h in node.handlers)
    return isinstance(node, ast.With) and any("suppress(Exception)" in ast.unparse(i) for i in node.items)


def _insert(node: ast.AST, prefix: str, wanted: dict[Any, Place], numbers: dict[int, Place]) -> None:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.ClassDef):
            inner = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef):
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            inner = f"{prefix}{child.name}.<locals>."
            place = wanted.get((prefix + child.name, first))
            if place is not None:
                number = next(_numbers)
                numbers[number] = place
                (call,) = ast.parse(f"if {_HOOK}({number}): raise RuntimeError('injected')").body
                found = _beginning(child)
                if found is None:
                    continue
                body, at = found
                line = body[min(at, len(body) - 1)].lineno
                ast.increment_lineno(call, line - 1)
                body.insert(at, call)
        _insert(child, inner, wanted, numbers)
