"""Is a place in the rows of a batch read: the fifth of ``(state, action, reward, next_state, done)``?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.flow.source import Function, statements


def place_is_read(function: Function, name: str) -> bool:
    """``batch[4]``: does this function do anything with the fifth of each row of ``batch``?

    No only where it goes through the rows in loops that give each place a name, or asks for other places by
    their numbers. Yes where the rows go anywhere else.
    """
    batch, _, number = name.removesuffix("]").partition("[")
    place, known = int(number), set[ast.AST]()
    loops = [(target, source) for target, source in _loops(function) if _is_over(source, batch)]
    rows = {target.id for target, _ in loops if isinstance(target, ast.Name)}
    for target, source in loops:
        known |= {n for n in ast.walk(source) if isinstance(n, ast.Name)}
        if isinstance(target, ast.Tuple) and _is_unpacked_and_read(function, target, place):
            return True
        if not isinstance(target, ast.Tuple | ast.Name):
            return True
    if not loops:
        return True
    for node in _nodes(function):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in rows:
            if not isinstance(node.slice, ast.Constant) or node.slice.value == place:
                return True
            known.add(node.value)
        known |= {n for n in ast.walk(node) if _is_size(node)}
    used = [n for n in _nodes(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return any(n.id in rows | {batch} and n not in known for n in used)


def _is_size(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "print")


def _nodes(function: Function) -> Iterator[ast.AST]:
    for statement in statements(function):
        yield from ast.walk(statement) if not hasattr(statement, "body") else _own(statement)


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """Of a statement with others in it, what is its own."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr | ast.withitem):
            yield from ast.walk(child)


def _loops(function: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What goes through something, and what that is; ``enumerate`` is looked through."""
    for statement in statements(function):
        if isinstance(statement, ast.For | ast.AsyncFor):
            yield _enumerated(statement.target, statement.iter)
    for node in _nodes(function):
        if isinstance(node, ast.comprehension):
            yield _enumerated(node.target, node.iter)


def _enumerated(target: ast.expr, source: ast.expr) -> tuple[ast.expr, ast.expr]:
    call = source if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else None
    counted = call is not None and call.args and getattr(call.func, "id", "") == "enumerate"
    if call is not None and counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        return target.elts[1], call.args[0]
    return target, source


def _is_over(source: ast.expr, batch: str) -> bool:
    return isinstance(source, ast.Name) and source.id == batch


def _is_unpacked_and_read(function: Function, target: ast.Tuple, place: int) -> bool:
    starred = any(isinstance(one, ast.Starred) for one in target.elts)
    if starred or place >= len(target.elts):
        return True
    one = target.elts[place]
    if not isinstance(one, ast.Name):
        return True
    loads = (n for n in _nodes(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return any(n.id == one.id for n in loads)
