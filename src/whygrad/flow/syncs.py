"""What the source text says about syncing a target network, and which names a line calls."""

from __future__ import annotations

import ast

from whygrad.flow.source import tree
from whygrad.model.source import remembered

_SYNCING = frozenset(
    (
        *("load_state_dict", "copy_", "lerp_", "mul_", "deepcopy", "set_weights", "vector_to_parameters"),
        *("assign", "assign_add", "assign_sub", "load_weights"),
        *("_foreach_lerp_", "_foreach_copy_", "_foreach_mul_"),
    )
)

_TELLING = (
    *("sync", "soft_", "polyak", "update_target", "target_update", "update_ema", "ema_update"),
    *("hard_update", "copy_weights", "copy_params"),
)


@remembered(256)
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


def untaken_sync(file: str, seen: frozenset[int], optimizers: frozenset[str] = frozenset()) -> int | None:
    """The line of code that syncs weights, that can be reached, and that was not seen to run.

    A script that syncs every 1000 steps and was stopped after 200 is no fault. A sync in a function
    that nobody calls is one. What stands in plain sight, in no function, loop or condition, has run.
    ``optimizers`` are the names of optimizers: loading their state, as checkpoints do, syncs nothing.
    0 if the source cannot be read: nothing can be said.
    """
    module = tree(file)
    if module is None:
        return 0
    called = {_last(n.func) for n in ast.walk(module) if isinstance(n, ast.Call)}
    own = {n.name for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    idle = _idle(module)
    for function, node in _nested(module):
        line = int(getattr(node, "lineno", 0))
        if line in seen or node in idle or not _writes_weights(node, function, own, optimizers):
            continue
        if not function or function in called:
            return line
    return None


def _idle(module: ast.Module) -> set[ast.AST]:
    """Calls that look like a sync and change nothing, however often they run."""
    calls = {n for n in ast.walk(module) if isinstance(n, ast.Call)}
    functions = (n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return {c for c in calls if _onto_itself(c)} | {c for f in functions for c in _dropped(f)}


def _onto_itself(call: ast.Call) -> bool:
    """``net.load_state_dict(net.state_dict())``, ``net.set_weights(net.get_weights())``."""
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    given = call.args[0]
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute):
        return False
    asked = given.func.attr in ("state_dict", "get_weights")
    return asked and ast.dump(given.func.value) == ast.dump(call.func.value)


def _dropped(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """Copies that a function gives to a name of its own and never reads: ``target = deepcopy(online)``."""
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    read |= {n for s in ast.walk(function) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if _last(node.value.func) == "deepcopy"
        if all(isinstance(t, ast.Name) and t.id not in read for t in node.targets)
    ]


def _writes_weights(node: ast.AST, function: str, own: set[str], optimizers: frozenset[str]) -> bool:
    """A call or an assignment that writes weights.

    A function of another file is judged by its name, one of this file by what it does.
    """
    if isinstance(node, ast.Attribute):
        return node.attr == "data" and isinstance(node.ctx, ast.Store)
    if isinstance(node, ast.Subscript):
        whole = isinstance(node.slice, ast.Slice) or getattr(node.slice, "value", None) is ...
        return whole and isinstance(node.ctx, ast.Store) and _tells(function)
    if not isinstance(node, ast.Call):
        return False
    name = _last(node.func)
    if isinstance(node.func, ast.Attribute) and _last(node.func.value) in optimizers:
        return False
    if name not in own and _tells(name):
        return True
    return name in _SYNCING or (_tells(function) and name.endswith("_") and not name.startswith("__"))


def _tells(name: str) -> bool:
    return any(word in name.lower() for word in _TELLING)


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
