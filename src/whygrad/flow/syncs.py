"""What the source text says about syncing a target network, and which names a line calls."""

from __future__ import annotations

import ast

from whygrad.flow.flags import unread
from whygrad.flow.source import tree
from whygrad.model.source import remembered

_ASKED = frozenset(("predict", "predict_on_batch", "fit", "train_on_batch", "forward", "call"))
_SYNCING = frozenset(
    (
        *("load_state_dict", "copy_", "lerp_", "mul_", "deepcopy", "set_weights", "vector_to_parameters"),
        *("assign", "assign_add", "assign_sub", "load_weights"),
        *("_foreach_lerp_", "_foreach_copy_", "_foreach_mul_"),
    )
)

_HOUSEKEEPING = frozenset(
    (
        *(
            "load_state_dict",
            "state_dict",
            "parameters",
            "named_parameters",
            "modules",
            "children",
            "buffers",
        ),
        *(
            "set_weights",
            "get_weights",
            "build",
            "compile",
            "summary",
            "save",
            "save_weights",
            "load_weights",
        ),
        *(
            "eval",
            "train",
            "requires_grad_",
            "to",
            "cpu",
            "cuda",
            "float",
            "double",
            "half",
            "apply",
            "zero_grad",
        ),
    )
)

_TELLING = (
    *("sync", "soft_", "polyak", "update_target", "target_update", "update_ema", "ema_update"),
    *("hard_update", "copy_weights", "copy_params"),
)


@remembered(256)
def called_names(file: str, line: int) -> frozenset[str]:
    """The last names of what is called on this line: ``q`` in ``self.q(state)`` and ``q.predict(state)``."""
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
    asked = [
        call.func.value for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in _ASKED
    ]
    return frozenset(name for node in (*(call.func for call in calls), *asked) if (name := _last(node)))


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


def asked_by(file: str, network: str, syncs: frozenset[int]) -> bool:
    """Does the source of this file ask a network for something, or hand it to somebody who might?

    Its weights, its state and its mode are no answer; a call whose result is dropped builds it. What stands
    on the lines of ``syncs`` is known.
    """
    module = tree(file) or ast.Module([], [])
    names = [part.partition("[")[0] for part in network.split(".")]
    dropped = {s.value for s in ast.walk(module) if isinstance(s, ast.Expr)}
    for call in ast.walk(module):
        if not isinstance(call, ast.Call) or call.lineno in syncs:
            continue
        if _named(call.func, names) and call not in dropped:
            return True
        if isinstance(call.func, ast.Attribute) and _named(call.func.value, names):
            if call.func.attr not in _HOUSEKEEPING:
                return True
        elif any(_named(a, names) for a in _given(module, call, names)):
            return True
    return False


def _given(module: ast.Module, call: ast.Call, names: list[str]) -> set[ast.expr]:
    """Its arguments, without those that a function of this file takes and does not use."""
    return {*call.args, *(k.value for k in call.keywords)} - unread(module, call, {names[-1]})


def _named(node: ast.expr, names: list[str]) -> bool:
    """Is this the network of that name? ``self.target`` is ``agent.target``; of ``ac.q`` both parts count."""
    while isinstance(node, ast.Subscript):
        node = node.value
    written = ast.unparse(node).split(".") if isinstance(node, (ast.Name, ast.Attribute)) else []
    if not written or written[-1] != names[-1]:
        return False
    return len(written) < 2 or len(names) < 3 or written[-2] in ("self", names[-2])


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
    idle = _idle(module) | _beside(module, seen)
    helpers = _running(module, seen)
    for function, node in _nested(module):
        line = int(getattr(node, "lineno", 0))
        called_again = isinstance(node, ast.Call) and _last(node.func) in helpers
        if line in seen or node in idle:
            continue
        if not called_again and not _writes_weights(node, function, own, optimizers):
            continue
        if not function or function in called:
            return line
    return None


def _beside(module: ast.Module, seen: frozenset[int]) -> set[ast.AST]:
    """What stands in one loop with a line that was seen: ``t.mul_(1 - tau); t.add_(tau * p)``."""
    loops = [n for n in ast.walk(module) if isinstance(n, ast.For)]
    ran = [n for n in loops if any(s.lineno in seen for s in n.body if not hasattr(s, "body"))]
    return {node for loop in ran for s in loop.body if not hasattr(s, "body") for node in ast.walk(s)}


def _running(module: ast.Module, seen: frozenset[int]) -> set[str]:
    """Functions of this file in which weights were seen to be written: who calls them syncs, too."""
    functions = [n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    helpers = [f for f in functions if _tells(f.name)]
    return {f.name for f in helpers if any(line in range(f.lineno, (f.end_lineno or 0) + 1) for line in seen)}


def synced_names(file: str, one: str, other: str) -> bool:
    """Does some call of this file have to do with both of these: ``soft_update(target, online)``?"""
    module = tree(file)
    calls = [n for n in ast.walk(module) if isinstance(n, ast.Call)] if module is not None else []
    return any({one, other} <= _mentioned(call) for call in calls)


def _mentioned(call: ast.Call) -> set[str]:
    """The last names of what a call is given, or is made on."""
    given = [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    found = (n for part in given for n in ast.walk(part) if isinstance(n, (ast.Name, ast.Attribute)))
    return {_last(n) for n in found}


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
        buffer = isinstance(node.value, ast.Name) and node.value.id == "self"
        return node.attr == "data" and isinstance(node.ctx, ast.Store) and not buffer
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
