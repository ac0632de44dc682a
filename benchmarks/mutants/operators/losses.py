"""Losses with the wrong sign, the wrong term or the wrong network."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.operators.cuts import loss_names, sums
from mutants.registry import Fault, fault, operator
from mutants.source import Source, dotted, last

TORCH = ("torch",)


@operator("stored-action", "loss-independent")
def stored_action(source: Source) -> Iterator[Fault]:
    """The policy's loss asks the critic about the action of the batch, not about the policy's."""
    for node, used in parts.policy_actions(source):
        function = source.function(node)
        names = {n.id for n in source.each(ast.Name, within=function)}
        names |= {a.arg for a in getattr(getattr(function, "args", None), "args", [])}
        stored = [n for n in ("actions", "action", "act", "acts", "acted", "action_batch") if n in names]
        for name in [n for n in stored if n != used.id][:1]:
            yield fault(source.replace(used, name), also=_loss_lines(source, node))


def _loss_lines(source: Source, node: ast.AST) -> set[int]:
    function = source.function(node)
    return source.lines(*(loss for loss in parts.policy_losses(source) if source.function(loss) is function))


@operator("term-dropped", "loss-independent", "not-in-optimizer")
def term_dropped(source: Source) -> Iterator[Fault]:
    """One of several losses is left out of the sum."""
    for node in sums(source):
        for name in loss_names(source, node):
            edit = _dropped(source, name)
            if edit:
                yield fault(edit)


def _dropped(source: Source, name: ast.AST):
    """The sum without the term that a name stands in."""
    while not (isinstance(source.parents[name], ast.BinOp) and isinstance(source.parents[name].op, ast.Add)):
        name = source.parents[name]
        if isinstance(name, ast.stmt):
            return None
    parent = source.parents[name]
    other = parent.left if parent.right is name else parent.right
    return source.replace(parent, source.of(other))


@operator("zero-factor", "zero-gradient", "loss-independent")
def zero_factor(source: Source) -> Iterator[Fault]:
    """A loss is weighed with 0."""
    for node in sums(source):
        for name in loss_names(source, node):
            parent = source.parents[name]
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
                yield fault(source.replace(parent.left, "0.0"))


@operator("twin-asked-twice", "loss-independent", "not-in-optimizer")
def twin_twice(source: Source) -> Iterator[Fault]:
    """The first critic is asked where it is the second one's turn."""
    nets = parts.networks(source)
    for call in source.each(ast.Call):
        name, statement = dotted(call.func), source.statement(call)
        twin = name.replace("2", "1")
        if twin == name or parts.is_target(name) or not _same_kind(nets, name, twin):
            continue
        # the policy may be judged by one critic alone: only the critics' own losses count
        if parts.in_update(source, call) and not re.search(r"\.min", source.of(statement)):
            within = source.function(call)
            made = [n for _, n in source.assigns(within=within) if "loss" in source.of(n.targets[0])]
            yield fault(source.replace(call.func, twin), also=source.lines(*made))


def _same_kind(nets: dict, name: str, twin: str) -> bool:
    if name in nets and twin in nets:
        return True
    return bool(re.search(r"(^|\.)qf?2$", name))


@operator("minus-missing", "value-sign")
def minus_missing(source: Source) -> Iterator[Fault]:
    """A policy's loss without its minus."""
    for loss in parts.policy_losses(source):
        for node in source.each(ast.UnaryOp, within=loss.value):
            if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
                yield fault(source.replace(node, source.of(node.operand)))
                break


@operator("q-sign", "value-sign")
def q_sign(source: Source) -> Iterator[Fault]:
    """SAC's loss adds the critic's value where it must take it away."""
    for loss in parts.policy_losses(source):
        for node in source.each(ast.BinOp, within=loss.value):
            if isinstance(node.op, ast.Sub) and re.search(r"\bq\w*|min_q", source.of(node.right)):
                yield fault(source.replace(node, f"{source.of(node.left)} + {source.of(node.right)}"))


@operator("fresh-action", "value-sign", "surrogate-missing")
def fresh_action(source: Source) -> Iterator[Fault]:
    """The log-probability of another draw than the one that was paid for."""
    for call in source.calls("log_prob"):
        if any(source.calls("rsample", within=source.function(call))):
            continue  # there, the gradient goes through the draw
        given = call.args[0] if call.args else None
        if isinstance(given, ast.Name) and isinstance(call.func, ast.Attribute):
            fresh = f"{source.of(call.func.value)}.sample()"
            yield fault(source.replace(given, fresh), also=_loss_lines_all(source))


def _loss_lines_all(source: Source) -> set[int]:
    return source.lines(*parts.policy_losses(source))


@operator("action-for-log-prob", "surrogate-missing", "loss-independent")
def action_for_log_prob(source: Source) -> Iterator[Fault]:
    """The policy's loss multiplies rewards with actions, not with their log-probabilities."""
    for loss in parts.policy_losses(source):
        function = source.function(loss)
        bound = {n.id for n in source.each(ast.Name, within=function)}
        bound |= {a.arg for a in getattr(getattr(function, "args", None), "args", [])}
        stored = next((n for n in ("actions", "action", "rewards") if n in bound), None)
        for name in source.each(ast.Name, within=loss.value):
            if stored and parts.LOG_PROB.search(name.id) and not re.search("old|neg", name.id):
                torch = f"torch.as_tensor({stored}).float()"
                tensorflow = f"tf.cast({stored}, tf.float32)"
                yield fault(source.replace(name, torch if source.framework == "torch" else tensorflow))


@operator("ratio-with-itself", "cancelled-gradient")
def ratio_with_itself(source: Source) -> Iterator[Fault]:
    """The ratio of the new policy with itself."""
    for call in source.calls("exp"):
        difference = call.args[0] if call.args else None
        if (
            isinstance(difference, ast.BinOp)
            and isinstance(difference.op, ast.Sub)
            and parts.LOG_PROB.search(source.of(difference.left))
            and parts.in_update(source, call)
        ):
            yield fault(source.replace(difference.right, source.of(difference.left)))


@operator("ratio-detached", "detached")
def ratio_detached(source: Source) -> Iterator[Fault]:
    """Both sides of the ratio are constants."""
    for call in source.calls("exp"):
        difference = call.args[0] if call.args else None
        if (
            isinstance(difference, ast.BinOp)
            and isinstance(difference.op, ast.Sub)
            and parts.LOG_PROB.search(source.of(difference.left))
            and parts.in_update(source, call)
        ):
            text = parts.cut(source, source.of(difference.left))
            yield fault(source.replace(difference.left, text))


@operator("advantage-attached", "advantage-not-detached", "backward-twice")
def advantage_attached(source: Source) -> Iterator[Fault]:
    """The policy's loss trains the value network through the advantage."""
    for cut in source.calls("detach|stop_gradient"):
        node = source.statement(cut)
        inner = cut.args[0] if cut.args else cut.func.value
        where = isinstance(node, ast.Assign) and last(node.targets[0])
        words = f"{source.of(inner)} {where or ''}"
        if where and parts.in_update(source, node) and parts.ADVANTAGE.search(words):
            name = source.of(inner)
            also = {n.lineno for _, n in source.assigns() if source.of(n.targets[0]) == name}
            also |= _loss_lines(source, node)
            yield fault(source.replace(cut, source.of(inner)), also=also)


@operator("entropy-sign", "entropy-sign")
def entropy_sign(source: Source) -> Iterator[Fault]:
    """An entropy bonus with the sign of a penalty."""
    for node in source.each(ast.BinOp):
        statement = source.statement(node)
        named = isinstance(statement, ast.Assign) and "loss" in last(statement.targets[0])
        if named and isinstance(node.op, ast.Sub) and parts.ENTROPY.search(_names(source, node.right)):
            yield fault(source.replace(node, f"{source.of(node.left)} + {source.of(node.right)}"))


def _names(source: Source, node: ast.AST) -> str:
    names = [n.id for n in source.each(ast.Name, within=node)] or [""]
    return names[-1] if not isinstance(node, ast.Name) else node.id


@operator("temperature-leak", "polluted-gradient", "advantage-not-detached", "target-leak", "backward-twice")
def temperature_leak(source: Source) -> Iterator[Fault]:
    """The temperature's loss differentiates through the policy."""
    for name, node in source.assigns():
        if "alpha" in name and "loss" in name:
            for cut in source.calls("detach|stop_gradient", within=node):
                inner = cut.args[0] if cut.args else cut.func.value
                made = [n for n in source.each(ast.Assign) if source.of(inner) in _bound(source, n)]
                near = source.lines(*parts.statements(source, "backward"), *made)
                yield fault(source.replace(cut, source.of(inner)), also=near)


def _bound(source: Source, node: ast.Assign) -> set[str]:
    return {source.of(n) for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)}
