"""What a name was given in a function before a line, as far as the source text tells."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from whygrad.flow.source import Function, statements
from whygrad.model import Kind

_FILLING = ("append", "extend", "insert", "appendleft")


@dataclass(frozen=True, slots=True)
class Given:
    """One value that a name was given: itself, an element of it, or something put into what it was."""

    value: ast.expr
    line: int
    kind: Kind | None = None  # how the new value and the old one are together
    perhaps: bool = False  # in a condition


def given(function: Function, name: str, line: int) -> list[Given]:
    """The values that a name has been given up to a line, from the last one that replaced all of it on."""
    conditions = _conditions(function)
    found: list[tuple[ast.stmt, Given]] = []
    for statement in sorted(statements(function), key=lambda s: s.lineno):
        if statement.lineno < line or (isinstance(statement, ast.For) and line in _lines(statement)):
            found += [(statement, one) for one in _gives(statement, name)]
    chosen: list[Given] = []
    for statement, one in reversed(found):
        around = [
            c
            for c in conditions
            if statement is not c and statement.lineno in _lines(c) and line not in _lines(c)
        ]
        chosen.append(Given(one.value, one.line, one.kind, bool(around)))
        if one.kind is None and not around:
            break
    return chosen[::-1]


def _gives(statement: ast.stmt, name: str) -> list[Given]:
    line = statement.lineno
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [one for target in targets for one in _assigned(target, statement.value, name, line)]
    if isinstance(statement, ast.AugAssign) and _is(statement.target, name):
        kinds = {ast.Add: Kind.ADD, ast.Sub: Kind.SUBTRACT, ast.Mult: Kind.MULTIPLY, ast.Div: Kind.DIVIDE}
        kind = kinds.get(type(statement.op))
        return [Given(statement.value, line, kind)] if kind is not None else []
    if isinstance(statement, ast.For):
        return [
            Given(value, line) for own, value in elements(statement.target, statement.iter) if own == name
        ]
    call = statement.value if isinstance(statement, ast.Expr) else None
    method = call.func if isinstance(call, ast.Call) and call.args else None
    if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute):
        return []
    filled = method.attr in _FILLING and _is(method.value, name)
    return [Given(call.args[-1], line, Kind.JOIN)] if filled else []


def _assigned(target: ast.expr, value: ast.expr, name: str, line: int) -> list[Given]:
    if isinstance(target, ast.Name) and target.id == name:
        return [Given(value, line)]
    if isinstance(target, ast.Subscript) and _base(target) == name:
        return [Given(value, line, Kind.PUT)]
    if isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        if len(values) == len(target.elts):
            pairs = zip(target.elts, values, strict=True)
            return [one for t, v in pairs for one in _assigned(t, v, name, line)]
        if any(_is(t, name) for t in target.elts):
            return [Given(value, line)]
    return []


def elements(target: ast.expr, iterated: ast.expr) -> list[tuple[str, ast.expr]]:
    """Names of a loop, with the thing that each is an element of."""
    if isinstance(target, ast.Name):
        return [(target.id, iterated)]
    called = iterated.func if isinstance(iterated, ast.Call) else None
    if (
        not isinstance(target, ast.Tuple)
        or not isinstance(called, ast.Name)
        or not isinstance(iterated, ast.Call)
    ):
        return []
    if called.id == "enumerate" and len(target.elts) == 2 and iterated.args:
        return elements(target.elts[1], iterated.args[0])
    if called.id == "zip" and len(target.elts) == len(iterated.args):
        pairs = zip(target.elts, iterated.args, strict=True)
        return [found for one, value in pairs for found in elements(one, value)]
    return []


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _conditions(function: Function) -> list[ast.stmt]:
    return [s for s in statements(function) if isinstance(s, ast.If)]


def _lines(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
