"""What the user calls the terms of a loss: the variable, or the piece of source that stands for it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from whygrad.flow.source import is_library, tree
from whygrad.model import Flow, Op, Site
from whygrad.model.kinds import SCALES, SUMS

_LONG = 80
_TRAINING = frozenset(("fit", "train_on_batch"))  # what they give back is no loss to differentiate
_MOST = 4000


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


def term_names(flow: Flow, roots: Sequence[int], ops: Sequence[Op]) -> list[str]:
    """A name for each term of a loss, as the lines that add them up call it; no two are the same."""
    wanted = {op.id for op in ops}
    labels: dict[int, str] = {}
    todo: list[tuple[int, ast.expr | None]] = [(root, None) for root in roots]
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        here, said = todo.pop()
        if here in wanted:
            labels.setdefault(here, _label(flow[here], said))
        elif here not in seen:
            seen.add(here)
            todo.extend(_inside(flow, flow[here], said))
    return _told_apart([(labels.get(op.id) or _name(op), home(op)) for op in ops])


def home(op: Op) -> Site | None:
    """The user's own line: of an operation inside of a library, the one that called it."""
    return next((s for s in (op.site, *op.callers) if s is not None and not is_library(s.file)), op.site)


def _inside(flow: Flow, op: Op, said: ast.expr | None) -> list[tuple[int, ast.expr | None]]:
    """What an operation adds up, each with the piece of source that stands for it."""
    said = said if _is_sum(_bare(said)) else (_expression(op) or said)
    bare = _bare(said)
    if op.kind in SUMS and isinstance(bare, ast.BinOp) and _is_sum(bare):
        sides = (bare.left, bare.right) if len(op.inputs) > 1 else (bare.right if op.swapped else bare.left,)
        return list(zip(op.inputs, sides, strict=False))
    if len(op.inputs) == 1 or op.kind in SCALES:
        return [(i, _scaled(said) if flow[i].kind in SUMS else said) for i in op.inputs]
    return [(i, None) for i in op.inputs]


def _scaled(said: ast.expr | None) -> ast.expr | None:
    """The sum in ``0.5 * (a + b)``; any other product is the name of what it scales."""
    if isinstance(said, ast.BinOp) and isinstance(said.op, (ast.Mult, ast.Div)):
        return next((side for side in (said.left, said.right) if _is_sum(_bare(side))), said)
    return said


def _bare(said: ast.expr | None) -> ast.expr | None:
    """Without signs, and without the call that differentiates."""
    while isinstance(said, ast.UnaryOp):
        said = said.operand
    return said


def _is_sum(said: ast.expr | None) -> bool:
    return isinstance(said, ast.BinOp) and isinstance(said.op, (ast.Add, ast.Sub))


def _expression(op: Op) -> ast.expr | None:
    """The sum that is written on the line of an operation that adds."""
    if op.kind not in SUMS or op.site is None:
        return None
    written = _bare(_value(statement(op.site)))
    return written if _is_sum(written) else None


def _label(op: Op, said: ast.expr | None) -> str:
    """The piece of source; the variable, where that is all there is in it and the line is the user's."""
    own = op.site is not None and not is_library(op.site.file)
    written = said is not None and any(map(_is_more, ast.walk(said)))
    return _said(said) if written or not own else (own and _name(op)) or ""


def _is_more(node: ast.AST) -> bool:
    """More than a product of variables: something is computed here."""
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, (ast.Mult, ast.Div))
    return isinstance(node, ast.Call)


def _said(said: ast.expr | None) -> str:
    """A piece of source as a name, without its sign: that is not what one calls it."""
    bare = _bare(said)
    return _short(ast.unparse(bare)) if bare is not None else ""


def _name(op: Op) -> str:
    """The variable that it was given to, or what is written there; of a library, in its own words."""
    if op.site is None:
        return op.name
    here = statement(op.site)
    value = _value(here)
    trained = _trained(value)
    if trained:
        return trained
    text = _said(value) if value is not None else _short(op.site.code)
    return assigned(here) or text or op.name


def _trained(value: ast.expr | None) -> str:
    """``model.fit(...)``, where a loss is made and differentiated inside of one call."""
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)] if value is not None else []
    for call in calls:
        if isinstance(call, ast.Attribute) and call.attr in _TRAINING:
            return f"{ast.unparse(call)}(...)"
    return ""


def _value(node: ast.stmt | None) -> ast.expr | None:
    """What a statement is about: what it assigns, returns, differentiates or collects."""
    value: ast.AST | None = getattr(node, "value", None)
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner, method = value.func.value, value.func.attr
        if method == "backward" and not is_name(owner):
            value = owner
        elif method == "append" and len(value.args) == 1:
            value = value.args[0]
        else:
            break
    return value if isinstance(value, ast.expr) else None


def is_name(value: ast.expr) -> bool:
    """Nothing but a variable, an attribute, or an element of one."""
    return isinstance(value, (ast.Name, ast.Attribute, ast.Subscript))


def _told_apart(named: Sequence[tuple[str, Site | None]]) -> list[str]:
    """Terms that a loop has made on one line are counted."""
    many, met = Counter(named), Counter[tuple[str, Site | None]]()
    found = []
    for term in named:
        met[term] += 1
        found.append(f"{term[0]} #{met[term]}" if many[term] > 1 else term[0])
    return found


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."
