"""What the user's source text says: which lines a value on some line was written from."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from typing import TypeAlias, TypeGuard

from whygrad.model.source import lines as source_lines
from whygrad.model.source import remembered

_FILLING = ("append", "extend", "insert", "add", "push", "put", "appendleft", "update")
#: What the parser raises for a text that is no source, or that is nested too deeply for it.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


@remembered(64)
def tree(file: str) -> ast.Module | None:
    """The syntax tree of a file, if it can be read."""
    text = "".join(source_lines(file))
    try:
        return ast.parse(text) if text else None
    except UNREADABLE:
        return None


@remembered(4096)
def feeding_lines(file: str, line: int) -> Mapping[int, int]:
    """The lines whose values flow, by assignments and appends, into the statement on ``line``.

    Each with its distance in assignments. Flow-insensitive and by name, within the function that
    ``line`` is in and the functions of the same file that it calls.
    """
    module = tree(file)
    found: dict[int, int] = {}
    if module is None:
        return found
    scope = scope_of(module, line)
    names: set[str] = set()
    for statement in statements(scope):
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno) and not _is_block(
            statement
        ):
            found.update(dict.fromkeys(_own_lines(statement), 0))
            names |= _read(statement)
    _follow(module, scope, names, found, depth=3)
    return found


def _follow(module: ast.Module, scope: Function, names: set[str], found: dict[int, int], depth: int) -> None:
    """Add every statement that gives one of these names a value, and go on with what it reads."""
    distance = max(found.values(), default=0)
    done: set[int] = set()
    wave = set(names)
    while wave:
        distance += 1
        following: set[str] = set()
        for statement in statements(scope):
            if id(statement) not in done and _written(statement) & wave:
                done.add(id(statement))
                for own in _own_lines(statement):
                    found.setdefault(own, distance)
                following |= _read(statement)
        for function in ast.walk(module) if depth else ():
            if isinstance(function, ast.FunctionDef) and function.name in wave and function is not scope:
                _follow_call(module, function, found, depth)
        wave = following - names
        names |= following


def _follow_call(module: ast.Module, function: ast.FunctionDef, found: dict[int, int], depth: int) -> None:
    """What a called function returns was written from these lines."""
    if function.lineno in found:
        return
    distance = max(found.values(), default=0)
    returned = [s for s in statements(function) if isinstance(s, ast.Return)]
    found[function.lineno] = distance
    for statement in returned:
        for own in _own_lines(statement):
            found.setdefault(own, distance)
    _follow(module, function, {n for s in returned for n in _read(s)}, found, depth - 1)


def is_library(file: str) -> bool:
    """Is this the code of an installed package, which the user did not write?"""
    return any(part in ("site-packages", "dist-packages") for part in file.split(os.sep))


def lines_reading(file: str, line: int, name: str) -> frozenset[int]:
    """The lines below this one, in the same function, that read a variable."""
    module = tree(file)
    scopes = [
        n
        for n in (ast.walk(module) if module is not None else ())
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))
        and getattr(n, "lineno", 0) <= line <= (getattr(n, "end_lineno", None) or line)
    ]
    inner = max(scopes, key=lambda n: getattr(n, "lineno", 0), default=None)
    found = [n for n in ast.walk(inner) if isinstance(n, ast.Name)] if inner is not None else []
    return frozenset(
        n.lineno for n in found if n.id == name and n.lineno > line and isinstance(n.ctx, ast.Load)
    )


def names_above(file: str, line: int) -> list[str]:
    """The names that the function around a line has been given above it: arguments, then what it assigns."""
    module = tree(file)
    if module is None:
        return []
    scope = scope_of(module, line)
    given = [] if isinstance(scope, ast.Module) else [arg.arg for arg in scope.args.args]
    above = sorted((s for s in statements(scope) if s.lineno < line), key=lambda s: s.lineno)
    return [*given, *(name for s in above for name in sorted(_targets(s)))]


def assignments_to(file: str, name: str) -> list[tuple[int, str]]:
    """(line, function) of every statement that assigns to a variable or attribute of this name."""
    module = tree(file)
    if module is None:
        return []
    found = []
    for scope in ast.walk(module):
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            title = getattr(scope, "name", "<module>")
            for statement in statements(scope):
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in _targets(statement):
                    found.append((statement.lineno, title))
    return sorted(found)


@remembered(64)
def loop_names(file: str) -> frozenset[str]:
    """The names that ``for`` gives to one thing after the other."""
    module = tree(file)
    loops = [n for n in ast.walk(module) if isinstance(n, (ast.For, ast.comprehension))] if module else []
    return frozenset(name for loop in loops for name in _last_names(loop.target))


@remembered(4096)
def numpy_call(file: str, line: int) -> str:
    """The numpy function that is called on this line, as it is written; or nothing."""
    module = tree(file)
    if module is None:
        return ""
    names = {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "numpy"
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if isinstance(owner, ast.Name) and owner.id in names:
                return ast.unparse(node.func)
    return ""


def leaving_line(file: str, line: int) -> tuple[int, str]:
    """Where the function that ``tf.py_function(f, ...)`` on this line calls says ``.numpy()``; or (0, "")."""
    module = tree(file)
    calls = [n for n in ast.walk(module) if isinstance(n, ast.Call)] if module is not None else []
    called = {
        name
        for call in calls
        if call.lineno <= line <= (call.end_lineno or call.lineno) and call.args
        for name in _last_names(call.args[0])
        if getattr(call.func, "attr", getattr(call.func, "id", "")) == "py_function"
    }
    for function in ast.walk(module) if module is not None else ():
        if isinstance(function, ast.FunctionDef) and function.name in called:
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and node.attr == "numpy":
                    return node.lineno, function.name
    return 0, ""


def definition_line(file: str, line: int) -> int:
    """The line of the ``def`` that begins, with its decorators, on this line."""
    module = tree(file)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == line:
                return node.lineno
    return line


def keeps_in_attribute(file: str, line: int) -> bool:
    """Does this line put its value into an attribute: ``self.hidden = ...``?"""
    module = tree(file)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return any(isinstance(t, ast.Attribute) for target in node.targets for t in _flat_targets(target))
    return False


def freezing_lines(file: str) -> list[int]:
    """The lines that say ``requires_grad_(False)`` or ``requires_grad = False``."""
    module = tree(file)
    return [node.lineno for node in ast.walk(module) if _freezes(node)] if module is not None else []


def _freezes(node: ast.AST) -> TypeGuard[ast.Call | ast.Assign]:
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") == "requires_grad_" and any(map(_is_false, node.args))
    return isinstance(node, ast.Assign) and "requires_grad" in _targets(node) and _is_false(node.value)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _flat_targets(target: ast.expr) -> list[ast.expr]:
    return [e for t in target.elts for e in _flat_targets(t)] if isinstance(target, ast.Tuple) else [target]


def scope_of(module: ast.Module, line: int) -> Function:
    """The innermost function around a line."""
    best: Function = module
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and line in _lines(node):
            best = node
    return best


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def statements(scope: Function) -> list[ast.stmt]:
    """The statements of a function, those of inner functions and classes left out."""
    found: list[ast.stmt] = []
    todo: list[ast.AST] = list(scope.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            found.append(node)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
        todo.extend(c for c in ast.iter_child_nodes(node) if isinstance(c, (ast.stmt, ast.ExceptHandler)))
    return found


def statement_at(file: str, line: int) -> ast.stmt | None:
    """The innermost statement that this line is part of."""
    module = tree(file)
    best: ast.stmt | None = None
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            best = node if best is None or node.lineno >= best.lineno else best
    return best


def assigned_name(file: str, line: int) -> str:
    """What the statement on this line assigns to: ``target`` or ``agent.target``; nothing if it does not."""
    statement = statement_at(file, line)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    plain = isinstance(target, (ast.Name, ast.Attribute))
    return ast.unparse(target).removeprefix("self.") if plain else ""


def _is_block(statement: ast.stmt) -> bool:
    return hasattr(statement, "body")


def _own_lines(statement: ast.stmt) -> range:
    """The lines of a statement, without the body of a loop or a condition."""
    if _is_block(statement):
        return range(statement.lineno, statement.lineno + 1)
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _targets(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        return {n for t in statement.targets for n in _last_names(t)}
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        return set(_last_names(statement.target))
    return set()


def _written(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value to; ``x.append(...)`` gives one to ``x``."""
    names = _targets(statement)
    if isinstance(statement, ast.With):
        names |= {
            n for item in statement.items if item.optional_vars for n in _last_names(item.optional_vars)
        }
    for call in ast.walk(statement) if isinstance(statement, ast.Expr) else ():
        method = call.func if isinstance(call, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr in _FILLING:
            names |= set(_last_names(method.value))
    return names


def _last_names(target: ast.expr) -> list[str]:
    """``x``, ``self.x`` and ``x[i]`` are all ``x``."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Attribute):
        return [target.attr]
    if isinstance(target, (ast.Subscript, ast.Starred)):
        return _last_names(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [n for t in target.elts for n in _last_names(t)]
    return []


def _read(statement: ast.stmt) -> set[str]:
    """The names that a statement uses."""
    parts: list[ast.AST] = [statement]
    if isinstance(statement, ast.For):
        parts = [statement.iter]
    elif _is_block(statement):
        parts = [c for c in ast.iter_child_nodes(statement) if isinstance(c, ast.expr)]
    names: set[str] = set()
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                names.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                names.add(node.attr)
    return names


@remembered(1024)
def handed_out(file: str, name: str) -> bool:
    """Does some function call ``self.name(...)`` and do something with what it gives?

    It is in no assignment, or a name that it is assigned to is read in the same function.
    """
    module = tree(file)
    functions = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef)] if module else []
    return any(
        _calls_own(statement, name) and _goes_on(function, statement)
        for function in functions
        for statement in statements(function)
        if not _is_block(statement)
    )


def _calls_own(statement: ast.stmt, name: str) -> bool:
    calls = [n.func for n in ast.walk(statement) if isinstance(n, ast.Call)]
    own = [f for f in calls if isinstance(f, ast.Attribute) and f.attr == name]
    return any(isinstance(f.value, ast.Name) and f.value.id == "self" for f in own)


def _goes_on(function: Function, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return True
    names = _targets(statement)
    others = [s for s in statements(function) if not _is_block(s) and not _targets(s) & names]
    return any(names & _read(other) for other in others)
