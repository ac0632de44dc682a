"""Target networks and bootstrap targets again: syncs that write nowhere or share memory, masks, mixed-up names."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.operators.targets import copies, made_lines, masks, syncs
from mutants.registry import Fault, fault, operator
from mutants.source import Function, Source, dotted, last

TORCH = ("torch",)


def callers(source: Source, node: ast.AST) -> set[int]:
    """The loop around a sync, and the calls of the helper that it stands in."""
    loops = [a for a in source.around(node) if isinstance(a, ast.For)][:1]
    function = source.function(node)
    helper = isinstance(function, Function) and function not in parts.update_functions(source)
    called = list(source.calls(re.escape(function.name))) if helper else []
    return source.lines(*loops, *called)


def writes(source: Source) -> Iterator[tuple[ast.Expr, ast.Name, ast.expr]]:
    """In loops over two networks' parameters: the statement, the parameter that is written, what is written."""
    for node in source.each(ast.Expr):
        call = node.value
        if not (isinstance(call, ast.Call) and last(call.func) in ("copy_", "assign") and call.args):
            continue
        loops = [a for a in source.around(node) if isinstance(a, ast.For)][:1]
        written = call.func.value
        while isinstance(written, ast.Attribute) and written.attr == "data":
            written = written.value
        if loops and "zip(" in source.of(loops[0].iter) and isinstance(written, ast.Name):
            yield node, written, call.args[0]


@operator("sync-rebinds", "target-never-synced")
def sync_rebinds(source: Source) -> Iterator[Fault]:
    """The sync gives a new value to the loop's variable, not to the target network."""
    for node, written, value in writes(source):
        also = made_lines(source) | callers(source, node)
        yield fault(source.replace(node, f"{written.id} = {source.of(value)}"), also=also)


@operator("sync-shares-memory", "target-alias", frameworks=TORCH)
def shares_memory(source: Source) -> Iterator[Fault]:
    """``target.data = param.data``: from then on both are the same memory."""
    for node, written, _ in writes(source):
        loop = next(a for a in source.around(node) if isinstance(a, ast.For))
        names = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
        other = [name for name in names if name != written.id]
        if len(names) == 2 and len(other) == 1:
            text = f"{written.id}.data = {other[0]}.data"
            yield fault(source.replace(node, text), also=callers(source, node))


@operator("sync-by-assignment", "target-alias")
def sync_by_assignment(source: Source) -> Iterator[Fault]:
    """``self.target = self.net`` where weights were to be copied."""
    moving = set(syncs(source))
    for node in copies(source):
        given = node.value.args[0]
        if node in moving and isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
            names = source.of(node.value.func.value), source.of(given.func.value)
            yield fault(source.replace(node, f"{names[0]} = {names[1]}"))


@operator("leaf-written-in-place", "in-place-modified", frameworks=TORCH, crashes=True)
def leaf_written(source: Source) -> Iterator[Fault]:
    """The sync writes into parameters that require a gradient, and nothing switches recording off."""
    for node, written, _ in writes(source):
        if isinstance(node.value.func.value, ast.Attribute) and not parts.unrecorded(source, node):
            yield fault(source.replace(node.value.func.value, written.id), also=callers(source, node))
    for block in source.each(ast.With):
        if "no_grad" in source.of(block.items[0].context_expr) and re.search(
            r"\.(mul_|lerp_|copy_)\(", source.of(block)
        ):
            yield fault(source.unwrapped(block))


@operator("mask-inverted", "terminal-mask", "unmasked-bootstrap")
def mask_inverted(source: Source) -> Iterator[Fault]:
    """``done`` where ``1 - done`` belongs: only what ended is bootstrapped."""
    for node in masks(source):
        statement = source.statement(node)
        if parts.in_update(source, node) and isinstance(statement, ast.Assign):
            yield fault(source.replace(node, source.of(node.right)), also=source.lines(statement))


@operator("prediction-by-target", "loss-independent", "wrong-variables")
def prediction_by_target(source: Source) -> Iterator[Fault]:
    """The target network gives the prediction, too: nothing of the loss depends on the online network."""
    nets = list(parts.networks(source))
    twins = {parts.online_of(name, nets): name for name in nets if parts.is_target(name)}
    for online, twin in twins.items():
        if online is None or re.search(r"actor|pi$|policy$", online):
            continue
        for call in source.each(ast.Call):
            asked = dotted(call.func) == online and parts.in_update(source, call)
            if asked and not parts.unrecorded(source, call):
                used = [loss for loss, _, _ in parts.regressions(source)]
                near = [loss for loss in used if source.function(loss) is source.function(call)]
                yield fault(source.replace(call.func, twin), also=source.lines(*near))
                break  # later ones are asked about the policy's action


@operator(
    "optimizer-of-target", "target-in-optimizer", "not-in-optimizer", "wrong-variables", frameworks=TORCH
)
def optimizer_of_target(source: Source) -> Iterator[Fault]:
    """The optimizer is given the target network's parameters in place of the online network's."""
    nets = parts.networks(source)
    for name, (made, _) in nets.items():
        online = parts.online_of(name, list(nets)) if parts.is_target(name) else None
        for statement, call in parts.optimizers(source).values():
            held = source.of(call.args[0]) if call.args else ""
            if online and held == f"{online}.parameters()" and made.lineno < statement.lineno:
                yield fault(source.replace(call.args[0], f"{name}.parameters()"))


@operator("leaking-return", "target-leak", "advantage-not-detached", frameworks=TORCH)
def leaking_return(source: Source) -> Iterator[Fault]:
    """An actor-critic bootstraps from its own network, and neither ``no_grad`` nor ``detach`` is left."""
    blocks = [
        block
        for block in source.each(ast.With)
        if "no_grad" in source.of(block.items[0].context_expr)
        and re.search(r"next_value|last_value|bootstrap", source.of(block.body[0]))
        and len(block.body) == 1
    ]
    for name, node in source.assigns():
        cut = node.value
        if name == "returns" and isinstance(cut, ast.Call) and last(cut.func) == "detach":
            yield from (
                fault(source.unwrapped(block), source.replace(cut, source.of(cut.func.value)))
                for block in blocks
            )
