"""What stands behind a value: the parameter, or the gradient, that it is a window onto."""

from __future__ import annotations

from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.torch.vocabulary import SAME_VALUE, is_in_place


def share_marks(nodes: list[Node | None]) -> None:
    """The results of one operation are freed together by a backward through any of them."""
    made = [node for node in nodes if node is not None and node.parameter is None]
    for node in made:
        node.mark = made[0].mark


def gradient_behind(node: Node) -> Param | None:
    """The parameter whose ``.grad`` this value is, or is a window onto."""
    for _ in range(8):
        if node.gradient is not None:
            return node.gradient
        if not node.inputs or node.name not in SAME_VALUE:
            return None
        node = node.inputs[0]
    return None


def parameter_behind(node: Node) -> Param | None:
    """The parameter that this value is, or is a window onto (``p.data``, ``p.detach()``)."""
    for _ in range(8):
        if node.parameter is not None:
            return node.parameter
        if not node.inputs or not (node.name in SAME_VALUE or is_in_place(node.name)):
            return None
        node = node.inputs[0]
    return None
