"""The terms of a loss while it is still made of nodes, found as in a frozen flow."""

from __future__ import annotations

from typing import Any

from whygrad.flow.terms import terms
from whygrad.frameworks.shared.kinds import Kinds
from whygrad.frameworks.shared.nodes import Node


class _Operation:
    """A node with its kind."""

    __slots__ = ("kind", "node")

    def __init__(self, node: Node, kinds: Kinds) -> None:
        self.node, self.kind = node, kinds.of(node.name, len(node.inputs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.node, name)


class _Nodes:
    """A flow whose operations are nodes."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def __getitem__(self, node: Node) -> _Operation:
        return _Operation(node, self._kinds)


def carrying_terms(root: Node, kinds: Kinds) -> set[Node]:
    """The addends of a loss that carry gradient."""
    found: Any = terms(_Nodes(kinds), root, deep=False)  # type: ignore[arg-type]
    return {term.op.node for term in found if term.op.carries}
