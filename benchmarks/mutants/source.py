"""A program's text with its syntax tree, and edits that leave the rest of the text as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Edit:
    """Bytes ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


def dotted(node: ast.AST | None) -> str:
    """``self.actor.l1`` for a chain of names, empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def last(node: ast.AST | None) -> str:
    """The last name of a chain: ``step`` of ``self.optimizer.step``, whatever stands before it."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


class Source:
    """One program."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.data = text.encode()
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.framework = "torch" if re.search(r"^\s*(import|from) torch", text, re.M) else "tensorflow"

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything, in the order of the text."""
        placed = [node for node in ast.walk(self.tree) if hasattr(node, "lineno")]
        return sorted(placed, key=lambda node: (node.lineno, node.col_offset))

    def each(self, *kinds: type[ast.AST], within: ast.AST | None = None) -> Iterator[ast.AST]:
        """Nodes of these kinds, in the order of the text."""
        inside = set(ast.walk(within)) if within is not None else None
        return (n for n in self.nodes if isinstance(n, kinds) and (inside is None or n in inside))

    def calls(self, pattern: str, within: ast.AST | None = None) -> Iterator[ast.Call]:
        """Calls of something whose last name matches as a whole."""
        for node in self.each(ast.Call, within=within):
            if re.fullmatch(pattern, last(node.func)):
                yield node

    def assigns(self, within: ast.AST | None = None) -> Iterator[tuple[str, ast.Assign]]:
        """Assignments to one name (or attribute), with its last name."""
        for node in self.each(ast.Assign, within=within):
            if len(node.targets) == 1 and last(node.targets[0]):
                yield last(node.targets[0]), node

    def start(self, node: ast.AST) -> int:
        """Its first byte."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        """The byte after its last."""
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        """Its text."""
        return self.data[self.start(node) : self.end(node)].decode()

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around it."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def function(self, node: ast.AST) -> ast.AST:
        """The innermost function around it, or the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, Function):
                return node
        return self.tree

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What encloses it, from inside."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def parents_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The class around it."""
        return next((n for n in self.around(node) if isinstance(n, ast.ClassDef)), None)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that it stands among."""
        for _, value in ast.iter_fields(self.parents[statement]):
            if isinstance(value, list) and statement in value:
                return value
        return [statement]

    def lines(self, *nodes: ast.AST) -> set[int]:
        """The lines that they stand on."""
        return {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Another text in its place."""
        return Edit(self.start(node), self.end(node), text)

    def wrap(self, node: ast.AST, before: str, after: str) -> Edit:
        """The same between two texts."""
        return self.replace(node, f"{before}{self.of(node)}{after}")

    def delete(self, statement: ast.stmt) -> Edit:
        """The statement goes, its lines too."""
        if len(self.block(statement)) == 1:
            return self.replace(statement, "pass")
        return Edit(self._starts[statement.lineno - 1], self._starts[statement.end_lineno], "")

    def before(self, statement: ast.stmt, text: str) -> Edit:
        """New lines above a statement, as far in as it."""
        place = self._starts[statement.lineno - 1]
        return Edit(place, place, self._indented(statement, text))

    def after(self, statement: ast.stmt, text: str) -> Edit:
        """New lines below a statement, as far in as it."""
        place = self._starts[statement.end_lineno]
        return Edit(place, place, self._indented(statement, text))

    def shifted(self, statement: ast.stmt, by: int) -> str:
        """Its text with every line but the first moved ``by`` columns."""
        first, *rest = self.of(statement).split("\n")
        moved = [" " * by + line if by > 0 else line[-by:] for line in rest]
        return "\n".join([first, *moved])

    def unwrapped(self, block: ast.With) -> Edit:
        """The body of a ``with`` in place of it."""
        inner = block.body[0].col_offset - block.col_offset
        indent = " " * block.col_offset
        body = f"\n{indent}".join(self.shifted(statement, -inner) for statement in block.body)
        return Edit(self.start(block), self.end(block), body)

    def _indented(self, statement: ast.stmt, text: str) -> str:
        indent = " " * statement.col_offset
        return "".join(f"{indent}{line}\n" for line in text.split("\n"))


@dataclass(frozen=True)
class Edited:
    """The text after edits, where they ended up, and how lines have moved."""

    text: str
    touched: frozenset[int]
    moved: dict[int, int]


def edited(source: Source, edits: Iterable[Edit]) -> Edited:
    """Apply edits that do not overlap."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    out, place, touched, shifts = b"", 0, set(), []
    for edit in ordered:
        if edit.start < place:
            raise ValueError("edits overlap")
        out += source.data[place : edit.start]
        first = out.count(b"\n") + 1
        body = edit.text.encode()
        if body:  # what is gone has no line
            touched |= set(range(first, first + edit.text.rstrip("\n").count("\n") + 1))
        shifts.append((edit.end, body.count(b"\n") - source.data[edit.start : edit.end].count(b"\n")))
        out += body
        place = edit.end
    text = (out + source.data[place:]).decode()
    moved = {n: n + sum(d for end, d in shifts if end <= begin) for n, begin in enumerate(source._starts, 1)}
    return Edited(text, frozenset(touched), moved)


def whole_statements(text: str, lines: Iterable[int]) -> frozenset[int]:
    """These lines, and the other lines of the simple statements that they belong to."""
    found = set(lines)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            span = set(range(node.lineno, node.end_lineno + 1))
            if span & found:
                found |= span
    return frozenset(found)
