"""Temporal differences in the source text: ``r[t] + gamma * v[t + 1] - v[t]``, wherever they are written.

Values of a rollout are plain numbers when an advantage is computed, often in a loop over arrays that nobody
sees run. The formula itself says what it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.flow.array_names import given
from whygrad.flow.source import Function, scope_of, statements, tree
from whygrad.model.source import remembered

_DEEP = 3  # calls from the function around the loss to the one with the formula
_END = 1 << 30
_VALUES = (ast.Name, ast.Subscript, ast.Attribute, ast.Call)


@remembered(256)
def unmasked_difference(file: str, line: int) -> int | None:
    """The line of a temporal difference without a mask, in the function around ``line`` or one it calls."""
    module = tree(file)
    if module is None:
        return None
    done: list[Function] = []
    todo = [scope_of(module, line)]
    for _ in range(_DEEP):
        found = [one for function in todo for one in _differences(function)]
        if found:
            return found[0] if all(found) else None
        done += todo
        called = {name for function in todo for name in _called(function)}
        functions = [n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        todo = [f for f in functions if f.name in called and f not in done]
    return None


def _called(function: Function) -> Iterator[str]:
    for statement in statements(function):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                yield getattr(node.func, "attr", getattr(node.func, "id", ""))


def _differences(function: Function) -> Iterator[int]:
    """The line of each temporal difference of a function; 0 for one with a mask."""
    conditions = [s for s in statements(function) if isinstance(s, ast.If)]
    for statement in sorted(statements(function), key=lambda s: s.lineno):
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)):
            continue
        for node in ast.walk(statement):
            bootstrap = _bootstrap(function, list(_addends(node))) if isinstance(node, ast.BinOp) else None
            if bootstrap is not None:
                branch = any(statement in ast.walk(condition) for condition in conditions)
                yield 0 if branch or _is_masked(function, bootstrap, statement.lineno) else statement.lineno
                break


def _addends(node: ast.expr, sign: int = 1) -> Iterator[tuple[ast.expr, int]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _addends(node.left, sign)
        yield from _addends(node.right, -sign if isinstance(node.op, ast.Sub) else sign)
    else:
        yield node, sign


def _bootstrap(function: Function, addends: list[tuple[ast.expr, int]]) -> list[ast.expr] | None:
    """The factors of the discounted value in ``r + gamma * v_next - v``; nothing if it is something else."""
    taken = [node for node, sign in addends if sign < 0 and isinstance(node, _VALUES)]
    added = [node for node, sign in addends if sign > 0 and isinstance(node, _VALUES)]
    products = [factors for node, sign in addends if sign > 0 if len(factors := _factors(node)) > 1]
    stepped = any(isinstance(node, ast.Subscript) for node in (*taken, *added))
    if not taken or not added or not stepped:
        return None
    known = {_base(node) for node in taken}
    same = [f for f in products if any(isinstance(n, ast.Subscript) and _base(n) in known for n in f)]
    other = [f for f in products if any(isinstance(n, ast.Name) and not _is_number(function, n) for n in f)]
    return next(iter(same or other), None)


def _is_masked(function: Function, factors: list[ast.expr], line: int) -> bool:
    """More than one factor that is not a number; or a value that is 0 on a condition."""
    arrays = [f for f in factors if not _is_number(function, f)]
    for name in (f.id for f in arrays if isinstance(f, ast.Name)):
        values = [one.value for one in given(function, name, line)]
        choices = [v for v in values if isinstance(v, ast.IfExp)]
        if any(isinstance(c, ast.Constant) for v in choices for c in (v.body, v.orelse)):
            return True
        if any(isinstance(v, ast.BinOp) for v in values):
            return True
    return len(arrays) != 1


def _is_number(function: Function, node: ast.expr) -> bool:
    """A constant, a setting of an object, or a name that is no more than that here."""
    if isinstance(node, ast.Name):
        values = [one.value for one in given(function, node.id, _END)]
        return all(isinstance(value, (ast.Constant, ast.Attribute)) for value in values)
    return isinstance(node, (ast.Constant, ast.Attribute))


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.dump(node)
