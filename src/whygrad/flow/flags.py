"""Is a variable read, or only handed on to somebody who does not read it either?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.flow.places import place_is_read
from whygrad.flow.source import Function, scope_of, statements, tree
from whygrad.model.source import remembered

_DEEP = 3
_COUNTS = frozenset(("mean", "sum", "reduce_mean", "reduce_sum", "len", "shape", "size", "dtype"))
_FILLING = frozenset(("append", "appendleft", "extend", "clear"))
_CONVERSIONS = 12  # names that one value goes by


@remembered(1024)
def is_read(file: str, line: int, name: str) -> bool:
    """Does the function around ``line`` use this variable for anything but another version of itself?

    A field, ``batch.done``, is looked for in the whole file. Yes, where the source cannot be read.
    """
    module = tree(file)
    if module is None:
        return True
    if name.endswith("]"):
        return place_is_read(scope_of(module, line), name)
    own = name.rpartition(".")[2]
    if own != name:
        return _field_is_read(module, own)
    scope = scope_of(module, line)
    if _goes_through(scope, name):
        return True  # a name for each of many things
    return (scope is module and _in_functions(module, name)) or _reads(module, scope, {name}, _DEEP)


def _in_functions(module: ast.Module, name: str) -> bool:
    """A variable of the file may be read in any of its functions."""
    functions = [f for f in ast.walk(module) if isinstance(f, (ast.FunctionDef, ast.Lambda))]
    return any(_loads(f, name) for f in functions)


def _loads(function: ast.FunctionDef | ast.Lambda, name: str) -> bool:
    """Does it read this variable, and has none of its own that is called so?"""
    arguments = function.args
    own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
    given = name in own or any(isinstance(n.ctx, ast.Store) for n in names)
    return not given and any(isinstance(n.ctx, ast.Load) for n in names)


def _goes_through(scope: Function, name: str) -> bool:
    """Is this the variable of a loop?"""
    loops = [s.target for s in statements(scope) if isinstance(s, (ast.For, ast.AsyncFor))]
    return any(isinstance(n, ast.Name) and n.id == name for target in loops for n in ast.walk(target))


def _field_is_read(module: ast.Module, field: str) -> bool:
    """Anywhere in the file, but for making the same field of something else, or a variable nobody reads."""
    functions = [n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(
        any(_is_field(node, field) for part in _parts(statement) for node in ast.walk(part))
        and not _same_field(statement, field)
        and not _unread_copy(module, scope, statement)
        for scope in (module, *functions)
        for statement in statements(scope)
    )


def _same_field(statement: ast.stmt, field: str) -> bool:
    """``Batch(..., done=torch.tensor(batch.done))``: nothing is computed with it."""
    handed = [
        n
        for k in ast.walk(statement)
        if isinstance(k, ast.keyword) and k.arg == field and not _computes(k.value)
        for n in ast.walk(k.value)
    ]
    return all(n in handed for n in ast.walk(statement) if _is_field(n, field))


def _unread_copy(module: ast.Module, scope: Function, statement: ast.stmt) -> bool:
    """``done = torch.tensor(batch.done)``, and nobody reads that either."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or _computes(statement.value):
        return False
    if scope is module:
        return False  # it may be read in any function
    target = statement.targets[0]
    return isinstance(target, ast.Name) and not _reads(module, scope, {target.id}, _DEEP)


def _computes(value: ast.expr) -> bool:
    return any(isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Compare)) for n in ast.walk(value))


def _parts(statement: ast.stmt) -> list[ast.AST]:
    """Of a statement with others in it, what is its own."""
    if not hasattr(statement, "body"):
        return [statement]
    return [c for c in ast.iter_child_nodes(statement) if isinstance(c, (ast.expr, ast.withitem))]


def _is_field(node: ast.AST, field: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == field and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Subscript):
        key = node.slice
        return isinstance(key, ast.Constant) and key.value == field and isinstance(node.ctx, ast.Load)
    return False


def _reads(module: ast.Module, function: Function, names: set[str], deep: int) -> bool:
    """The names of one value in a function: conversions of it are it, too."""
    for _ in range(_CONVERSIONS):
        more = {new for s in statements(function) for new in _converted(s, names)} - names
        if not more:
            break
        names = names | more
    for statement in statements(function):
        if not _converted(statement, names) and _uses(module, statement, names, deep):
            return True
    return False


def _converted(statement: ast.stmt, names: set[str]) -> set[str]:
    """``d = torch.tensor(d)``: a statement that gives one name what was made of another alone."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return set()
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name):
        return set()
    read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    alone = len(read & names) > 0 and not _computes(value)
    return {target.id} if alone and not (read - names - _modules(value)) else set()


def _modules(value: ast.expr) -> set[str]:
    """``torch`` in ``torch.tensor``, ``device`` among keywords: not data."""
    called = [c.func for c in ast.walk(value) if isinstance(c, ast.Call)]
    roots = {n.id for f in called for n in ast.walk(f) if isinstance(n, ast.Name)}
    given = {
        n.id
        for c in ast.walk(value)
        if isinstance(c, ast.keyword)
        for n in ast.walk(c)
        if isinstance(n, ast.Name)
    }
    owners = {
        n.value.id for n in ast.walk(value) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
    }
    return roots | given | owners | {"device", "self"}


def _uses(module: ast.Module, statement: ast.stmt, names: set[str], deep: int) -> bool:
    parts = _parts(statement)
    given = _handed_on(module, parts, names, deep) | _counted(parts)
    given |= set(_passed_by(statement))
    given |= {base for part in parts for n in ast.walk(part) if (base := _filled(n)) is not None}
    reads = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name) and n.id in names]
    return any(isinstance(n.ctx, ast.Load) and n not in given for n in reads)


def _passed_by(statement: ast.stmt) -> Iterator[ast.AST]:
    """``for r, m in zip(rewards, masks)`` whose body asks for no ``m``: nobody reads the masks."""
    if not isinstance(statement, ast.For) or not isinstance(statement.target, ast.Tuple):
        return
    call = statement.iter
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "zip":
        return
    asked = {n.id for s in statement.body for n in ast.walk(s) if isinstance(n, ast.Name)}
    for item, values in zip(statement.target.elts, call.args, strict=False):
        if isinstance(item, ast.Name) and item.id not in asked:
            yield from ast.walk(values)


def _filled(node: ast.AST) -> ast.AST | None:
    """``dones[t] = done``, ``dones.append(done)``: what is put into a variable does not read it."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        method = node.value.func
        return method.value if isinstance(method, ast.Attribute) and method.attr in _FILLING else None
    return None


def _counted(parts: list[ast.AST]) -> set[ast.AST]:
    """``dones.mean()``, ``len(dones)``: how many there are, for a log; not which."""
    found: set[ast.AST] = set()
    for node in (n for part in parts for n in ast.walk(part)):
        if isinstance(node, ast.Attribute) and node.attr in _COUNTS:
            found.add(node.value)
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            found.update(node.args[:1] if called in _COUNTS else ())
    return found


def _handed_on(module: ast.Module, parts: list[ast.AST], names: set[str], deep: int) -> set[ast.AST]:
    """Arguments of the user's own functions that are not read there."""
    calls = (n for part in parts for n in ast.walk(part) if isinstance(n, ast.Call))
    given = (value for call in calls for value in unread(module, call, names, deep))
    return set(given)


def unread(module: ast.Module, call: ast.Call, names: set[str], deep: int = _DEEP) -> set[ast.AST]:
    """Which of these variables does a call hand to a function of this file that does not read them?"""
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    own = [f for f in ast.walk(module) if isinstance(f, ast.FunctionDef) and f.name == called]
    if len(own) != 1 or not deep:
        return set()
    arguments = [a.arg for a in own[0].args.args]
    if arguments[:1] == ["self"] and isinstance(call.func, ast.Attribute):
        arguments = arguments[1:]
    pairs = [*zip(arguments, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return {
        node
        for name, value in pairs
        if name and (given := _only(value, names)) and not _reads(module, own[0], {name}, deep - 1)
        for node in given
    }


def _only(value: ast.expr, names: set[str]) -> list[ast.Name]:
    """These variables in an argument, if it is one of them, or a conversion: ``tf.constant(d)``."""
    found = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in names]
    if isinstance(value, ast.Name):
        return found
    changed = any(isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp)) for n in ast.walk(value))
    return [] if changed or not isinstance(value, ast.Call) else found
