"""What the user calls the terms of a loss: the variable, or the piece of source that stands for it."""

from __future__ import annotations

import ast

from whygrad.flow.source import tree
from whygrad.model import Op, Site

_LONG = 40


def statement(site: Site) -> ast.stmt | None:
    """The innermost statement on a line."""
    module = tree(site.file)
    best: ast.stmt | None = None
    for node in ast.walk(module) if module is not None else ():
        if not isinstance(node, ast.stmt) or not node.lineno <= site.line <= (node.end_lineno or node.lineno):
            continue
        if best is None or node.lineno > best.lineno or (node.lineno == best.lineno and _telling(node)):
            best = node
    return best


def _telling(node: ast.stmt) -> bool:
    """Of several statements in one line, the one that assigns or differentiates."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    differentiates = any(isinstance(f, ast.Attribute) and f.attr == "backward" for f in calls)
    return isinstance(node, (ast.Assign, ast.AugAssign)) or differentiates


def assigned(node: ast.stmt | None) -> str:
    """The variable that a statement gives a value to."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        target = node.target
    else:
        return ""
    return ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""


def term_names(ops: list[Op], loss: Site | None) -> list[str]:
    """A name for each term; those written out in the line of the loss are told by their source."""
    inline = sorted((op for op in ops if op.site is not None and op.site == loss), key=lambda op: op.time)
    pieces = _addends(statement(loss)) if loss is not None else []
    written = dict(zip((op.id for op in inline), pieces, strict=False)) if len(pieces) == len(inline) else {}
    return [written.get(op.id) or _name(op) for op in ops]


def _name(op: Op) -> str:
    if op.site is None:
        return op.name
    name = assigned(statement(op.site))
    return name or _short(op.site.code) or op.name


def _addends(node: ast.stmt | None) -> list[str]:
    """The addends of the expression in a statement that are not just names."""
    value = getattr(node, "value", None)
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "backward"
    ):
        value = value.func.value
    found: list[ast.expr] = []
    todo = [value] if isinstance(value, ast.expr) else []
    while todo:
        here = todo.pop(0)
        if isinstance(here, ast.BinOp) and isinstance(here.op, (ast.Add, ast.Sub)):
            todo = [here.left, here.right, *todo]
        elif isinstance(here, ast.UnaryOp):
            todo = [here.operand, *todo]
        else:
            found.append(here)
    return [_short(ast.unparse(f)) for f in found if any(isinstance(n, ast.Call) for n in ast.walk(f))]


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."
