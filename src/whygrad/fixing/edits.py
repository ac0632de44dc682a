"""Small changes of concrete syntax: a call taken off, a value wrapped, a statement moved."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

import libcst as cst

from whygrad.fixing.source import Node, Source

Changes = dict[Node, Node]
_LOOSE = (
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.BooleanOperation,
    cst.IfExp,
    cst.Lambda,
)
#: Parts of a statement in which an expression needs no brackets.
_OPEN = (cst.Arg, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Return, cst.Expr, cst.Element, cst.Index)


def expression(text: str) -> Node | None:
    """The expression that is written like this, if it is one."""
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return None


def statement(text: str) -> Node:
    """The statement that is written like this."""
    return cst.parse_statement(text)


def name_of(node: Node) -> str:
    """``a.b.c`` of names and attributes; empty for anything else."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            return f"{name_of(owner)}.{name}" if name_of(owner) else ""
    return ""


def called(node: Node) -> str:
    """The last part of what is called: ``detach`` in ``x.y().detach()``."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) | cst.Call(func=cst.Name(value=name)):
            return name
    return ""


def owner(call: Node) -> Node | None:
    """What a method is called on."""
    match call:
        case cst.Call(func=cst.Attribute(value=value)):
            return value
    return None


def positional(call: Node) -> list[Node]:
    """The arguments without a name."""
    return [arg.value for arg in call.args if arg.keyword is None and not arg.star]


def keyword(call: Node, name: str) -> Node | None:
    """The argument of this name, as it was given."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def in_place_of(source: Source, old: Node, new: Node) -> Changes:
    """``new`` where ``old`` stands, with brackets if it needs them there."""
    parent = source.parent(old)
    leads = isinstance(new, cst.UnaryOperation) and _leads_sum(parent, old)
    tight = not isinstance(parent, _OPEN) and not _product_in_sum(parent, new) and not leads
    if isinstance(new, _LOOSE) and not new.lpar and tight:
        new = new.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if old.lpar and isinstance(new, _LOOSE) and not new.lpar:
        new = new.with_changes(lpar=old.lpar, rpar=old.rpar)
    return {old: new}


def _leads_sum(parent: Node, old: Node) -> bool:
    """``-a + b`` needs no brackets."""
    match parent:
        case cst.BinaryOperation(operator=cst.Add() | cst.Subtract(), left=left):
            return left is old
    return False


def _product_in_sum(parent: Node, new: Node) -> bool:
    """``a + b * c`` needs no brackets."""
    match parent, new:
        case (
            cst.BinaryOperation(operator=cst.Add() | cst.Subtract()),
            cst.BinaryOperation(operator=cst.Multiply() | cst.Divide()),
        ):
            return True
    return False


def written(source: Source, old: Node, text: str) -> Changes:
    """``text`` where ``old`` stands; nothing where that is no expression."""
    new = expression(text)
    return in_place_of(source, old, new) if new is not None else {}


def atom(source: Source, node: Node) -> str:
    """The expression as it can stand before a dot."""
    code = source.code(node)
    return f"({code})" if isinstance(node, _LOOSE) and not node.lpar else code


def stopped(source: Source, node: Node, torch: bool) -> Changes:
    """The value without its history."""
    if torch:
        return written(source, node, f"{atom(source, node)}.detach()")
    return written(source, node, f"{stopper(source)}({source.code(node)})")


def stopper(source: Source) -> str:
    """What stops a gradient in TensorFlow, as this file can call it."""
    names = imported(source)
    if "tf" in names or "tensorflow" in names:
        return f"{'tf' if 'tf' in names else 'tensorflow'}.stop_gradient"
    return "ops.stop_gradient" if "ops" in names else "keras.ops.stop_gradient"


def imported(source: Source) -> set[str]:
    """The names that the file's imports bind."""
    found: set[str] = set()
    for node in source.within(source.module):
        if isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                bound = alias.asname.name if alias.asname else alias.name
                found.add(name_of(bound).split(".")[0] if name_of(bound) else "")
    return found


def negated(source: Source, node: Node) -> Changes:
    """The value with the other sign."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return in_place_of(source, node, node.expression)
    return written(source, node, f"-{atom(source, node)}")


def value_of(stmt: Node) -> Node | None:
    """What the statement assigns, returns, or adds."""
    match stmt:
        case cst.SimpleStatementLine(body=[cst.Assign(value=value)]):
            return value
        case cst.SimpleStatementLine(body=[cst.AugAssign(value=value)]):
            return value
        case cst.SimpleStatementLine(body=[cst.AnnAssign(value=value)]) if value is not None:
            return value
        case cst.SimpleStatementLine(body=[cst.Return(value=value)]) if value is not None:
            return value
    return None


def targets_of(stmt: Node) -> list[str]:
    """The names that the statement assigns to."""
    match stmt:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=targets)]):
            found = []
            for target in targets:
                inner = target.target
                parts = [e.value for e in inner.elements] if isinstance(inner, cst.Tuple) else [inner]
                found += [name_of(part) for part in parts]
            return [name for name in found if name]
        case (
            cst.SimpleStatementLine(body=[cst.AugAssign(target=target)])
            | cst.SimpleStatementLine(body=[cst.AnnAssign(target=target)])
        ):
            return [name_of(target)]
    return []


def without(source: Source, stmt: Node) -> Changes:
    """The file without this statement; the comments above it stay."""
    block = source.block(stmt)
    around = source.parent(source.parent(stmt)) if len(block) == 1 else None
    if isinstance(around, cst.If) and around.orelse is None and _idle(source, around.test):
        if isinstance(source.parent(around), cst.If):  # an ``elif`` keeps its place
            return {stmt: statement("pass")}
        return without(source, around)
    if len(block) <= 1:
        kept = statement("pass")
        return {stmt: kept.with_changes(leading_lines=stmt.leading_lines)}
    place = block.index(stmt)
    comments = [line for line in stmt.leading_lines if line.comment is not None]
    if not comments or place + 1 == len(block):
        return {stmt: cst.RemoveFromParent()}
    below = block[place + 1]
    kept = below.with_changes(leading_lines=[*stmt.leading_lines, *below.leading_lines])
    return {stmt: cst.RemoveFromParent(), below: kept}


def _idle(source: Source, test: Node) -> bool:
    """Does a condition do nothing but compare?"""
    return not any(isinstance(n, cst.Call | cst.NamedExpr | cst.Await) for n in source.within(test))


def tidied(source: Source, changes: Changes) -> Changes:
    """``x = x`` is no statement to leave behind."""
    found: Changes = {}
    for old, new in changes.items():
        stmt = source.parent(source.parent(old)) if source.parent(old) is not None else None
        idle = value_of(stmt) is old and targets_of(stmt) == [name_of(new)]
        found.update(without(source, stmt) if idle else {old: new})
    return found


def before(stmt: Node, *new: Node) -> Changes:
    """New statements above this one, and below its comments."""
    first, *rest = new
    first = first.with_changes(leading_lines=stmt.leading_lines)
    return {stmt: cst.FlattenSentinel([first, *rest, stmt.with_changes(leading_lines=[])])}


def after(stmt: Node, *new: Node) -> Changes:
    """New statements below this one."""
    return {stmt: cst.FlattenSentinel([stmt, *new])}


def moved(source: Source, stmt: Node, to: Node, below: bool) -> Changes:
    """The statement, with its comment at the end of the line, above or below another one."""
    bare = stmt.with_changes(leading_lines=[])
    changes = without(source, stmt)
    if to in changes:  # the comments of the moved one have come to stand above it
        kept = changes[to]
        return {**changes, to: cst.FlattenSentinel([kept, bare] if below else [bare, kept])}
    return {**changes, **(after(to, bare) if below else before(to, bare))}


def unwrapped(block: Node) -> Node:
    """The statements of a ``with`` block without the block."""
    body = list(block.body.body)
    body[0] = body[0].with_changes(leading_lines=[*block.leading_lines, *body[0].leading_lines])
    return cst.FlattenSentinel(body)


def lines(text: str) -> list[Node]:
    """Several statements."""
    return list(cst.parse_module(textwrap.dedent(text)).body)


def renamed(source: Source, nodes: Iterable[Node], old: str, new: str) -> Changes:
    """Another name where one stands in these nodes, in each place of it."""
    made = expression(new)
    found: Changes = {}
    for node in nodes:
        if name_of(node) == old and not part_of_name(source, node) and made is not None:
            found[node] = made.with_changes(lpar=node.lpar, rpar=node.rpar)
    return found


def part_of_name(source: Source, node: Node) -> bool:
    """Is it ``x`` of ``self.x``, or the name of an argument?"""
    parent = source.parent(node)
    match parent:
        case cst.Attribute(attr=attr):
            return attr is node
        case cst.Arg(keyword=key) | cst.Param(name=key):
            return key is node
    return isinstance(parent, cst.FunctionDef | cst.ClassDef | cst.ImportAlias | cst.Global)


def merged(*changes: Mapping[Node, Node]) -> Changes:
    """All of them at once."""
    return {old: new for part in changes for old, new in part.items()}
