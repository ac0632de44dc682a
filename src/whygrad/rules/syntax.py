"""One line of source as a syntax tree, and back: what rewriting needs of it."""

from __future__ import annotations

import ast
import re

from whygrad.flow.source import UNREADABLE

_CLOSERS = {"(": ")", "[": "]", "{": "}"}


def walk(code: str) -> list[ast.AST]:
    """All nodes of the line."""
    tree = parsed(complete(code))
    return list(ast.walk(tree)) if tree else []


def method_calls(code: str, names: tuple[str, ...] = ()) -> list[tuple[ast.Call, ast.expr]]:
    """The calls ``owner.name(...)`` with their owners; all of them where no name is given."""
    found = []
    for node in walk(code):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if not names or name in names:
                found.append((node, owner))
    return found


def parsed(code: str) -> ast.Module | None:
    """The tree, if it is Python as it stands."""
    try:
        return ast.parse(code)
    except UNREADABLE:
        return None


def complete(code: str) -> str:
    """The line, completed to a statement: open brackets closed, a block given a body."""
    if not code or parsed(code):
        return code
    stack: list[str] = []
    for char in re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", code):
        if char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif stack and char == stack[-1]:
            stack.pop()
    tries = (f"{code} pass", code + "".join(reversed(stack)))
    return next((c for c in tries if parsed(c)), code)


def segment(code: str, node: ast.expr) -> str:
    """What is written where this node is."""
    return ast.get_source_segment(complete(code), node) or ""


def dot_after(code: str, owner: ast.expr) -> int | None:
    """Where the attribute of ``owner`` begins: behind the brackets that may stand around it."""
    raw, place = code.encode(), owner.end_col_offset
    while place is not None and raw[place : place + 1] in (b")", b" "):
        place += 1
    return place


def replaced(code: str, start: int | None, end: ast.expr, text: str) -> str | None:
    """The line with everything from ``start`` to the end of a node replaced."""
    raw = code.encode()
    if start is None or end.end_col_offset is None or end.end_col_offset > len(raw):
        return None
    return (raw[:start] + text.encode() + raw[end.end_col_offset :]).decode()
