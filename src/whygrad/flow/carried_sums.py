"""Sums over the rest of an episode, in the source text: ``running = delta + gamma * lam * running``.

Where the temporal difference in it is masked at the ends of episodes, and the sum is not, the sum goes
on into the episode before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.flow.array_names import given
from whygrad.flow.differences import addends, factors_of, is_number, root, users, weighing
from whygrad.flow.source import Function, statements
from whygrad.model.source import remembered

_END = 1 << 30
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@remembered(256)
def unmasked_sum(file: str, line: int, name: str) -> tuple[int, str] | None:
    """The line of a sum that goes on across ends, and the factor that a difference in it has of them."""
    for functions in users(file, line, name):
        masks = [_text(mask) for function, names in functions for _, mask in weighing(function, names)]
        if masks:
            found = (n for function, names in functions for n in _sums(function, names))
            return next(((n, masks[0]) for n in found), None)
    return None


def _text(mask: ast.expr) -> str:
    return f"({ast.unparse(mask)})" if isinstance(mask, ast.BinOp) else ast.unparse(mask)


def _sums(function: Function, names: frozenset[str]) -> Iterator[int]:
    found = list(weighing(function, names))
    differences = [statement for statement, _ in found]
    ends = (names | {root(mask) for _, mask in found}) - {""}
    masked = {own for statement in differences for own in _targets(statement)}
    for loop in (s for s in statements(function) if isinstance(s, _LOOPS)):
        for statement in loop.body:  # on no condition
            if isinstance(statement, ast.Assign) and len(_targets(statement)) == 1:
                (own,) = _targets(statement)
                own_difference = any(statement is one for one in differences)
                others = _settings(statement.value, own, masked, own_difference)
                plain = others and all(_is_setting(function, f) and root(f) not in ends for f in others)
                if plain and _once(loop, own):
                    yield statement.lineno


def _targets(statement: ast.stmt) -> list[str]:
    """``delta = ...``, ``deltas[t] = ...``."""
    return [root(t) for t in statement.targets if root(t)] if isinstance(statement, ast.Assign) else []


def _settings(value: ast.expr, own: str, masked: set[str], difference: bool) -> list[ast.expr]:
    """What the sum is multiplied with before it goes on, if this adds a masked difference to what it was."""
    added = [node for node, sign in addends(value) if sign > 0]
    products = [factors_of(node) for node in added]
    carried = [factors for factors in products if own in {_name(f) for f in factors}]
    if len(carried) != 1 or not (difference or any(root(node) in masked - {own} for node in added)):
        return []
    return [f for f in carried[0] if _name(f) != own]


def _is_setting(function: Function, node: ast.expr) -> bool:
    """A number, or a name that nothing but a number is known to be given."""
    if not isinstance(node, ast.Name):
        return is_number(function, node)
    stored = any(
        isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)
        for n in ast.walk(function)
    )
    return is_number(function, node) and (not stored or bool(given(function, node.id, _END)))


def _once(loop: ast.stmt, own: str) -> bool:
    """Does nothing else in the loop change it, or an element of it?"""
    stored = [
        n
        for n in ast.walk(loop)
        if isinstance(n, (ast.Name, ast.Subscript)) and isinstance(n.ctx, ast.Store) and root(n) == own
    ]
    return len(stored) == 1 and isinstance(stored[0], ast.Name)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
