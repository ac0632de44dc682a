"""What the source text says about syncing a target network, and which names a line calls."""

from __future__ import annotations

import ast
from functools import lru_cache

from whygrad.flow.source import tree

_SYNCING = frozenset(
    (
        *("load_state_dict", "copy_", "lerp_", "mul_", "deepcopy", "set_weights", "vector_to_parameters"),
        *("assign", "assign_add", "assign_sub", "soft_variables_update", "load_weights"),
        *("soft_update", "hard_update", "polyak_update", "_foreach_lerp_", "_foreach_copy_", "_foreach_mul_"),
    )
)

_TELLING = ("sync", "soft_", "polyak", "update_target", "target_update", "update_ema", "ema_update")


@lru_cache(maxsize=256)
def called_names(file: str, line: int) -> frozenset[str]:
    """The last names of what is called in the statement on this line: ``q`` in ``self.q(state)``."""
    module = tree(file)
    if module is None:
        return frozenset()
    best: ast.stmt | None = None
    for node in ast.walk(module):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            best = node if best is None or node.lineno >= best.lineno else best
    if best is None:
        return frozenset()
    parts: list[ast.AST] = [best]
    if hasattr(best, "body"):
        parts = [c for c in ast.iter_child_nodes(best) if isinstance(c, ast.expr)]
    calls = [c for part in parts for c in ast.walk(part) if isinstance(c, ast.Call)]
    return frozenset(name for call in calls if (name := _last(call.func)))


def names_only(file: str, line: int) -> bool:
    """Does an assignment on this line give a second name, or make a shallow copy?"""
    module = tree(file)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            return any(
                isinstance(v, (ast.Name, ast.Attribute))
                or (isinstance(v, ast.Call) and _last(v.func) == "copy")
                for v in values
            )
    return False


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def untaken_sync(
    file: str, made: int, seen: frozenset[int], optimizers: frozenset[str] = frozenset()
) -> bool:
    """Is there code that syncs weights, that can be reached, and that has not run yet?

    A script that syncs every 1000 steps and was stopped after 200 is no fault. A sync in a function
    that nobody calls is one. What stands in plain sight, in no function, loop or condition, has run.
    ``optimizers`` are the names of optimizers: loading their state, as checkpoints do, syncs nothing.
    """
    module = tree(file)
    if module is None:
        return True  # the source cannot be read: nothing can be said
    called = {_last(n.func) for n in ast.walk(module) if isinstance(n, ast.Call)}
    own = {n.name for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    for function, node in _nested(module):
        if not _writes_weights(node, own, optimizers) or getattr(node, "lineno", made) in {made, *seen}:
            continue
        if not function or function in called:
            return True
    return False


def _writes_weights(node: ast.AST, own: set[str], optimizers: frozenset[str]) -> bool:
    """A call or an assignment that writes weights; a function of another file is judged by its name."""
    if isinstance(node, ast.Attribute):
        return node.attr == "data" and isinstance(node.ctx, ast.Store)
    if not isinstance(node, ast.Call):
        return False
    name = _last(node.func)
    if isinstance(node.func, ast.Attribute) and _last(node.func.value) in optimizers:
        return False
    return name in _SYNCING or (name not in own and any(word in name.lower() for word in _TELLING))


def _nested(module: ast.Module) -> list[tuple[str, ast.AST]]:
    """Everything inside of functions, loops and conditions, with the innermost function around it."""
    found: list[tuple[str, ast.AST]] = []
    todo: list[tuple[str, bool, ast.AST]] = [("", False, module)]
    while todo:
        function, inside, node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function, inside = node.name, True
        if isinstance(node, (ast.For, ast.While, ast.If)):
            inside = True
        if inside:
            found.append((function, node))
        todo.extend((function, inside, child) for child in ast.iter_child_nodes(node))
    return found
