"""One file of the user's as concrete syntax: found by line, changed node by node, all else kept to the byte.

The only file that knows how LibCST gives positions and takes changes. It is imported when a fix is asked for:
diagnosing needs none of it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

Node = Any  # LibCST's nodes
#: What is not an expression, a statement or a header: nothing in there is on a line of its own.
_BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite)


class Unreadable(Exception):
    """The file is no Python that LibCST can read; the message says why."""


class Source:
    """A file and its syntax. Nodes are compared by identity, and belong to this object alone."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file, self.data = file, data
        self._mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        try:
            parsed = cst.parse_module(data[len(self._mark) :])
        except (cst.ParserSyntaxError, UnicodeDecodeError, SyntaxError, LookupError) as error:
            raise Unreadable(" ".join(str(error).split())) from error
        wrapper = MetadataWrapper(parsed, unsafe_skip_copy=True)
        self.module: Node = wrapper.module
        self._places: Mapping[Node, Any] = wrapper.resolve(PositionProvider)
        self._parents: Mapping[Node, Node] = wrapper.resolve(ParentNodeProvider)

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.module.code.splitlines()

    def code(self, node: Node) -> str:
        """What is written there."""
        return self.module.code_for_node(node).strip()

    def line(self, node: Node) -> int:
        """The line on which it begins."""
        return self._places[node].start.line

    def last_line(self, node: Node) -> int:
        """The line on which it ends."""
        return self._places[node].end.line

    def parent(self, node: Node) -> Node | None:
        """What it is a part of."""
        return self._parents.get(node)

    def around(self, node: Node) -> Iterator[Node]:
        """Everything that it is a part of, from the inside outward."""
        here = self.parent(node)
        while here is not None:
            yield here
            here = self.parent(here)

    def within(self, node: Node) -> Iterator[Node]:
        """The node and all its parts, in the order of the text."""
        yield node
        for child in node.children:
            yield from self.within(child)

    @cached_property
    def statements(self) -> list[Node]:
        """All statements, from the first to the last; those in a block after the statement that has it."""
        kinds = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        return [n for n in self.within(self.module) if isinstance(n, kinds)]

    def statement(self, line: int) -> Node | None:
        """The innermost statement on this line."""
        found = [s for s in self.statements if self.line(s) <= line <= self.last_line(s)]
        found += [s for s in self.statements if _decorated(s) and self._in_decorators(s, line)]
        return max(found, key=self.line, default=None)

    def _in_decorators(self, statement: Node, line: int) -> bool:
        return any(self.line(d) <= line <= self.last_line(d) for d in statement.decorators)

    def own(self, statement: Node) -> Iterator[Node]:
        """The parts of a statement that are not statements of a block in it."""
        yield statement
        for child in statement.children:
            if not isinstance(child, (*_BLOCKS, cst.Else, cst.ExceptHandler, cst.Finally)):
                yield from self.own(child)

    def at(self, line: int, *kinds: type) -> list[Node]:
        """The nodes of these kinds in the statement on this line, those that touch the line first."""
        statement = self.statement(line)
        if statement is None:
            return []
        found = [n for n in self.own(statement) if isinstance(n, kinds)]
        touching = [n for n in found if self.line(n) <= line <= self.last_line(n)]
        return touching or found

    def function(self, node: Node) -> Node | None:
        """The function in which it stands, or none in the module's own lines."""
        return next((n for n in self.around(node) if isinstance(n, cst.FunctionDef)), None)

    def block(self, statement: Node) -> Sequence[Node]:
        """The statements among which it stands."""
        parent = self.parent(statement)
        return list(parent.body) if parent is not None and hasattr(parent, "body") else []

    def code_with(self, node: Node, changes: Mapping[Node, Node]) -> str:
        """What would be written there with these changes."""
        return self.module.code_for_node(node.visit(_Changes(changes))).strip()

    def changed(self, changes: Mapping[Node, Node]) -> bytes:
        """The file with these nodes replaced; everything else is the same to the byte."""
        made = self.module.visit(_Changes(changes))
        return self._mark + made.bytes


class _Changes(cst.CSTTransformer):
    """Puts new nodes where old ones were."""

    def __init__(self, changes: Mapping[Node, Node]) -> None:
        super().__init__()
        self._changes = changes

    def on_visit(self, node: Node) -> bool:
        return node not in self._changes

    def on_leave(self, original: Node, updated: Node) -> Node:
        return self._changes.get(original, updated)


def _decorated(statement: Node) -> bool:
    return isinstance(statement, cst.FunctionDef | cst.ClassDef) and bool(statement.decorators)
