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


@remembered(256)
def direct_difference(file: str, line: int, name: str) -> tuple[int, bool] | None:
    """Where ends go into a temporal difference, in the function around ``line`` or one that it calls.

    The line, and whether it is ``1 - ends``; nothing where that cannot be read.
    """
    for functions in users(file, line, name):
        found = [one for function, names in functions for one in _weighed_by(function, names)]
        if found:
            return found[0] if len(set(found)) == 1 else None
    return None


def users(file: str, line: int, name: str) -> Iterator[list[tuple[Function, frozenset[str]]]]:
    """The function around ``line``, those of the file that it gives ``name`` to, and so on; by what name."""
    module = tree(file)
    if module is None:
        return
    todo, done = [(scope_of(module, line), frozenset((name,)))], list[Function]()
    for _ in range(_DEEP):
        yield todo
        done += [function for function, _ in todo]
        todo = [g for function, names in todo for g in _given_on(module, function, names) if g[0] not in done]


def _weighed_by(function: Function, names: frozenset[str]) -> Iterator[tuple[int, bool]]:
    """The lines on which a temporal difference has these as a factor, and whether it is ``1 - these``."""
    for statement, written in weighing(function, names):
        factor = _assigned(function, written, names)
        yield (statement if factor is written else factor).lineno, _is_turned(factor)


def weighing(function: Function, names: frozenset[str]) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The temporal differences that have these as a factor of the bootstrap value: it, as written."""
    for statement in statements(function):
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)):
            sums = [n for n in ast.walk(statement) if isinstance(n, ast.BinOp)]
            found = (_bootstrap(function, list(addends(n))) for n in sums)
            for written in next((f for f in found if f is not None), ()):
                factor = _assigned(function, written, names)
                turned = _is_turned(factor)
                inner = factor.right if turned and isinstance(factor, ast.BinOp) else factor
                if isinstance(inner, (ast.Name, ast.Subscript)) and root(inner) in names:
                    yield statement, written


def _assigned(function: Function, factor: ast.expr, names: frozenset[str]) -> ast.expr:
    """``mask = 1 - dones[t]``: what a name on its own stands for, if it is given one value only."""
    if not isinstance(factor, ast.Name) or factor.id in names:
        return factor
    values = [one.value for one in given(function, factor.id, _END)]
    return values[0] if len(values) == 1 else factor


def _is_turned(node: ast.expr) -> bool:
    one = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant)
    return one and isinstance(node, ast.BinOp) and getattr(node.left, "value", None) == 1


def root(node: ast.expr) -> str:
    """The name of a variable, or of what this is an element of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _given_on(
    module: ast.Module, function: Function, names: frozenset[str]
) -> Iterator[tuple[Function, frozenset[str]]]:
    """The functions of this file that get one of these as an argument, and what it is called there."""
    functions = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef)]
    for call in (n for s in statements(function) for n in ast.walk(s) if isinstance(n, ast.Call)):
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        own = [f for f in functions if f.name == called]
        if len(own) != 1:
            continue
        arguments = [a.arg for a in own[0].args.args]
        if arguments[:1] == ["self"] and isinstance(call.func, ast.Attribute):
            arguments = arguments[1:]
        pairs = [*zip(arguments, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        given_names = {a for a, v in pairs if a and isinstance(v, ast.Name) and v.id in names}
        if given_names:
            yield own[0], frozenset(given_names)


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
            bootstrap = _bootstrap(function, list(addends(node))) if isinstance(node, ast.BinOp) else None
            if bootstrap is not None:
                branch = any(statement in ast.walk(condition) for condition in conditions)
                yield 0 if branch or _is_masked(function, bootstrap) else statement.lineno
                break


def addends(node: ast.expr, sign: int = 1) -> Iterator[tuple[ast.expr, int]]:
    """What is added here, and what is taken away (-1)."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from addends(node.left, sign)
        yield from addends(node.right, -sign if isinstance(node.op, ast.Sub) else sign)
    else:
        yield node, sign


def _bootstrap(function: Function, addends: list[tuple[ast.expr, int]]) -> list[ast.expr] | None:
    """The factors of the discounted value in ``r + gamma * v_next - v``; nothing if it is something else."""
    taken = [node for node, sign in addends if sign < 0 and isinstance(node, _VALUES)]
    added = [node for node, sign in addends if sign > 0 and isinstance(node, _VALUES)]
    products = [factors for node, sign in addends if sign > 0 if len(factors := factors_of(node)) > 1]
    stepped = any(isinstance(node, ast.Subscript) for node in (*taken, *added))
    if not taken or not added or not stepped:
        return None
    known = {_base(node) for node in taken}
    same = [f for f in products if any(isinstance(n, ast.Subscript) and _base(n) in known for n in f)]
    other = [f for f in products if any(isinstance(n, ast.Name) and not is_number(function, n) for n in f)]
    return next(iter(same or other), None)


def _is_masked(function: Function, factors: list[ast.expr]) -> bool:
    """More than one factor that is not a number; or a value that is 0 on a condition."""
    arrays = [f for f in factors if not is_number(function, f)]
    for name in (f.id for f in arrays if isinstance(f, ast.Name)):
        values = [one.value for one in given(function, name, _END)]
        choices = [v for v in values if isinstance(v, ast.IfExp)]
        if any(isinstance(c, ast.Constant) for v in choices for c in (v.body, v.orelse)):
            return True
        if any(isinstance(v, ast.BinOp) for v in values):
            return True
    return len(arrays) != 1


def is_number(function: Function, node: ast.expr) -> bool:
    """A constant, a setting of an object, or a name that is no more than that here."""
    if isinstance(node, ast.Name):
        values = [one.value for one in given(function, node.id, _END)]
        return all(isinstance(value, (ast.Constant, ast.Attribute)) for value in values)
    return isinstance(node, (ast.Constant, ast.Attribute))


def factors_of(node: ast.expr) -> list[ast.expr]:
    """``a``, ``b`` and ``c`` of ``a * b * c``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*factors_of(node.left), *factors_of(node.right)]
    return [node]


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.dump(node)
