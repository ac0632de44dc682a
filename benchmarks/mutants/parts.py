"""Finds the parts that a reader of a training script would point at: networks, optimizers, losses, targets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from mutants.source import Function, Source, dotted, last

OPTIMIZER = r"Adam|AdamW|SGD|RMSprop|Adagrad|Nadam|Adamax"
MODULE = r"Module|Model|Layer"
TARGETISH = re.compile(r"targ|(^|_)tgt|old_net|slow|frozen|_t$", re.I)
POLICY_LOSS = re.compile(
    r"(actor|policy|pi|pg)[_a-z]*_?loss$|loss_?(actor|pi|policy|pg)$|surrogate|objective", re.I
)
VALUE_LOSS = re.compile(r"(critic|value|vf?|qf?\d?|td)_?loss(_?\d)?$|loss_?(q|v|critic|value)\d?$", re.I)
TARGET_VALUE = re.compile(r"target|^y(_\w+)?$|return|backup|next_q_value|^ret$|^td_t", re.I)
LOG_PROB = re.compile(r"log_?p(i|rob)?s?$|logprob|log_pi|logps?$|_logp$|log_probs?$", re.I)
ADVANTAGE = re.compile(r"adv|delta|td_error", re.I)
DONE = re.compile(r"done|terminal|terminated|^d$|mask|finished", re.I)
ENTROPY = re.compile(r"entrop|^ents?$", re.I)


def cut(source: Source, text: str) -> str:
    """The expression, cut off from the gradient."""
    plain = re.fullmatch(r"[\w.]+(\(.*\)|\[.*\])?", text, re.S) and text.count("(") <= 1
    if source.framework == "tensorflow":
        return f"tf.stop_gradient({text})"
    return f"{text}.detach()" if plain else f"({text}).detach()"


@cache
def update_functions(source: Source) -> list[ast.AST]:
    """Functions (or the module) in which gradients are computed."""
    found: list[ast.AST] = []
    for call in source.calls("backward|gradient|minimize|scale"):
        function = source.function(call)
        if function not in found:
            found.append(function)
    return found


def in_update(source: Source, node: ast.AST) -> bool:
    """Whether it stands in such a function."""
    return source.function(node) in update_functions(source)


@cache
def network_classes(source: Source) -> list[ast.ClassDef]:
    """Classes of networks, with those that inherit from them."""
    names: set[str] = set()
    found = []
    for node in source.each(ast.ClassDef):
        if any(re.search(rf"({MODULE})$", last(base)) or last(base) in names for base in node.bases):
            names.add(node.name)
            found.append(node)
    return found


def forwards(source: Source) -> Iterator[Function]:
    """Their forward passes."""
    for node in network_classes(source):
        for method in node.body:
            if isinstance(method, Function) and method.name in ("forward", "call", "features"):
                yield method


@cache
def network_makers(source: Source) -> set[str]:
    """Names that give a network when they are called."""
    names = {"Sequential", "deepcopy", *(node.name for node in network_classes(source))}
    for node in source.each(*Function.__args__):
        if not isinstance(source.parents.get(node), ast.Module):
            continue
        returned = [r.value for r in source.each(ast.Return, within=node)]
        if any(isinstance(r, ast.Call) and last(r.func) in {*names, "Model"} for r in returned):
            names.add(node.name)
    return names


@cache
def networks(source: Source) -> dict[str, tuple[ast.Assign, ast.Call]]:
    """Networks by the text of their names, with the statement and the call that make them; the first one counts."""
    makers, found = network_makers(source), {}
    inside = {n for c in network_classes(source) for n in ast.walk(c)}
    for node in source.each(ast.Assign):
        if node in inside or len(node.targets) != 1:
            continue
        for name, value in pairs(node):
            while isinstance(value, ast.Call) and re.search(r"\.(to|float|train)$", source.of(value.func)):
                value = value.func.value
            made = isinstance(value, ast.Call) and (
                last(value.func) in makers or dotted(value.func) == "keras.Model"
            )
            if made and dotted(name):
                found.setdefault(dotted(name), (node, value))
    return found


def pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Names and values of an assignment, one by one."""
    name, value = node.targets[0], node.value
    if isinstance(name, ast.Tuple) and isinstance(value, ast.Tuple) and len(name.elts) == len(value.elts):
        return list(zip(name.elts, value.elts, strict=True))
    return [(name, value)]


def is_target(name: str) -> bool:
    """Whether a network's name says that it is a target network."""
    return bool(TARGETISH.search(name))


def online_of(target: str, names: list[str]) -> str | None:
    """The network that a target network follows, by their names."""
    online = [name for name in names if not is_target(name)]
    bare = re.sub(r"_?targ(et)?_?", "", target.split(".")[-1])
    for name in online:
        here = name.split(".")[-1]
        if here == bare or here.replace("_model", "").replace("_net", "") == bare:
            return name
    return online[0] if len(online) == 1 else None


@cache
def optimizers(source: Source) -> dict[str, tuple[ast.Assign, ast.Call]]:
    """Optimizers by the text of their names."""
    found = {}
    for node in source.each(ast.Assign):
        if isinstance(node.value, ast.Call) and re.fullmatch(OPTIMIZER, last(node.value.func)):
            found.setdefault(source.of(node.targets[0]), (node, node.value))
    return found


def losses(source: Source, pattern: re.Pattern[str]) -> Iterator[ast.Assign]:
    """Assignments to losses of this name, where gradients are computed."""
    for name, node in source.assigns():
        if pattern.search(name) and in_update(source, node) and not isinstance(node.value, ast.Constant):
            yield node


def policy_losses(source: Source) -> Iterator[ast.Assign]:
    """Losses of a policy: by name, or a loss with log-probabilities in it."""
    for name, node in source.assigns():
        if not in_update(source, node) or ("loss" not in name and not POLICY_LOSS.search(name)):
            continue
        uses = any(LOG_PROB.search(n.id) for n in source.each(ast.Name, within=node.value))
        if POLICY_LOSS.search(name) or (re.fullmatch(r"loss", name) and uses):
            yield node


def regressions(source: Source) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """Regression losses: the expression, its prediction and its target."""
    keras_order = source.framework == "tensorflow"
    called = r"mse_loss|smooth_l1_loss|huber_loss|l1_loss|criterion|loss_function|loss_fn|mse|huber|mean_squared_error"
    for call in source.calls(called):
        if len(call.args) == 2 and in_update(source, call):
            first, second = call.args
            yield (call, second, first) if keras_order else (call, first, second)
    for node in source.each(ast.BinOp):
        if isinstance(node.op, ast.Sub) and in_update(source, node) and _squared(source, node):
            sides = [bool(TARGET_VALUE.search(source.of(side))) for side in (node.left, node.right)]
            if sides == [True, False]:
                yield node, node.right, node.left
            elif sides == [False, True]:
                yield node, node.left, node.right


def _squared(source: Source, node: ast.AST) -> bool:
    parent = source.parents[node]
    if isinstance(parent, ast.Call) and last(parent.func) in ("square", "huber"):
        return True
    if isinstance(parent, ast.Attribute) and parent.attr in ("pow", "square"):
        return True
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)


def policy_actions(source: Source) -> Iterator[tuple[ast.Assign, ast.Name]]:
    """The policy's own action where a critic is asked about it: how it is made, and where it is used."""
    for node in source.each(ast.Assign):
        if not isinstance(node.value, ast.Call) or not in_update(source, node) or unrecorded(source, node):
            continue
        made = source.of(node.value.func)
        name = node.targets[0].elts[0] if isinstance(node.targets[0], ast.Tuple) else node.targets[0]
        plain = isinstance(name, ast.Name) and not re.search(r"next|targ|2|old", name.id)
        if not plain or not re.search(r"actor|policy|pi\b", made) or is_target(made):
            continue
        for call in source.calls(r"(\w*_)?(critic|qf?|Q)\d?(_\w+)?", within=source.function(node)):
            used = [n for n in source.each(ast.Name, within=call) if n.id == name.id]
            if used and call.lineno > node.lineno and not is_target(source.of(call.func)):
                yield node, used[-1]


def unrecorded(source: Source, node: ast.AST) -> bool:
    """Whether it stands under ``no_grad`` or something like it."""
    return any(
        isinstance(w, ast.With) and "no_grad" in source.of(w.items[0].context_expr)
        for w in source.around(node)
    )


def steps(source: Source, pattern: str = "step|apply_gradients|apply") -> Iterator[ast.Expr]:
    """Statements in which an optimizer steps."""
    names = optimizers(source)
    for node in source.each(ast.Expr):
        call = node.value
        if isinstance(call, ast.Call) and re.fullmatch(pattern, last(call.func)):
            of = source.of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
            if of in names:
                yield node


def statements(source: Source, called: str) -> Iterator[ast.stmt]:
    """Statements that are, or assign, one call of this name."""
    for node in source.each(ast.Expr, ast.Assign):
        if isinstance(node.value, ast.Call) and re.fullmatch(called, last(node.value.func)):
            yield node


def next_in_block(source: Source, statement: ast.stmt, called: str) -> ast.stmt | None:
    """The next statement of the same block that makes such a call."""
    block = source.block(statement)
    found = set(statements(source, called))
    return next((s for s in block[block.index(statement) + 1 :] if s in found), None)


def bootstraps(source: Source) -> Iterator[ast.Assign]:
    """Assignments of targets with a value of the next state in them."""
    for name, node in source.assigns():
        words = source.of(node.value)
        discount = re.search(r"gamma|discount|0\.9", words, re.I)
        if (
            discount
            and isinstance(node.value, ast.BinOp)
            and re.search(r"rew|\br\b|\br_|reward", words)
            and (TARGET_VALUE.search(name) or ADVANTAGE.search(name) or name in ("R", "target_q", "q_target"))
        ):
            yield node
