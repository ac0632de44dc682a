"""Target networks and bootstrap targets."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Function, Source, dotted, last

TORCH = ("torch",)


def copies(source: Source) -> Iterator[ast.Expr]:
    """``target.load_state_dict(net.state_dict())`` and the like, those of ``__init__`` included."""
    yield from (s for s in parts.statements(source, "load_state_dict|set_weights") if isinstance(s, ast.Expr))


def syncs(source: Source) -> Iterator[ast.stmt]:
    """Statements that move a target network: copies in the course of training, loops, calls of helpers."""
    first = {f for f in source.each(*Function.__args__) if f.name == "__init__"}
    loops = [
        n for n in source.each(ast.For) if re.match(r"for [^:]*\bzip\(.*(param|variables)", source.of(n))
    ]
    helpers = {f.name for loop in loops if isinstance(f := source.function(loop), Function)}
    for node in copies(source):
        trained = any(isinstance(a, ast.For | ast.While) for a in source.around(node))
        function = source.function(node)
        named = isinstance(function, Function) and re.search(r"update|sync|copy", function.name)
        if function not in first and (trained or named):
            yield node
    for node in source.each(ast.Expr):
        if (
            isinstance(node.value, ast.Call)
            and last(node.value.func) in helpers
            and any(parts.TARGETISH.search(source.of(a)) for a in node.value.args)
        ):
            yield node
    for loop in loops:
        function = source.function(loop)
        if not (isinstance(function, Function) and re.search(r"soft|target|sync|polyak", function.name)):
            yield loop


def made_lines(source: Source) -> set[int]:
    """Where target networks are made, and first filled."""
    made = [statement for name, (statement, _) in parts.networks(source).items() if parts.is_target(name)]
    return source.lines(*made, *copies(source))


@operator("never-synced", "target-never-synced")
def never_synced(source: Source) -> Iterator[Fault]:
    """The target network is never moved."""
    for node in syncs(source):
        yield fault(source.delete(node), also=made_lines(source), own=False)


@operator("copy-reversed", "target-reversed")
def copy_reversed(source: Source) -> Iterator[Fault]:
    """The target is copied into the online network."""
    for node in set(syncs(source)) & set(copies(source)):
        given = node.value.args[0]
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
            one, other = node.value.func.value, given.func.value
            yield fault(source.replace(one, source.of(other)), source.replace(other, source.of(one)))


@operator("soft-reversed", "target-reversed")
def soft_reversed(source: Source) -> Iterator[Fault]:
    """Arguments of the soft update are swapped."""
    for node in syncs(source):
        call = node.value if isinstance(node, ast.Expr) else node.iter
        if last(call.func) not in ("load_state_dict", "set_weights") and len(call.args) >= 2:
            one, other = call.args[:2]
            edits = source.replace(one, source.of(other)), source.replace(other, source.of(one))
            helper = [f for f in source.each(*Function.__args__) if f.name == last(call.func)]
            yield fault(*edits, also=source.lines(*helper, *([node] if isinstance(node, ast.For) else [])))


@operator("tau-swapped", "target-reversed")
def tau_swapped(source: Source) -> Iterator[Fault]:
    """tau and 1 - tau change places."""
    for node in source.each(ast.BinOp):
        sides = (node.left, node.right)
        words = [source.of(side) for side in sides]
        if isinstance(node.op, ast.Add) and all("tau" in w.lower() for w in words):
            factors = [_factor(source, side) for side in sides]
            if all(f is not None for f in factors):
                one, other = factors
                edits = source.replace(one, source.of(other)), source.replace(other, source.of(one))
                yield fault(*edits, also=_callers(source, node))


def _callers(source: Source, node: ast.AST) -> set[int]:
    """The loop around the sync, and the calls of the helper that it stands in."""
    loops = [a for a in source.around(node) if isinstance(a, ast.For)]
    function = source.function(node)
    called = list(source.calls(re.escape(function.name))) if isinstance(function, Function) else []
    return source.lines(*loops[:1], *called)


def _factor(source: Source, side: ast.expr) -> ast.expr | None:
    if not isinstance(side, ast.BinOp):
        return None
    for factor in (side.left, side.right):
        if "tau" in source.of(factor).lower():
            return factor
    return None


@operator("target-alias", "target-alias")
def alias(source: Source) -> Iterator[Fault]:
    """The target network is the online network under another name."""
    nets = parts.networks(source)
    for name, (_, call) in nets.items():
        if parts.is_target(name):
            online = parts.online_of(name, list(nets))
            if online:
                yield fault(source.replace(call, online))


def bootstrap_calls(source: Source) -> Iterator[tuple[ast.Call, str]]:
    """Calls of target networks in updates, with the online network of each."""
    nets = list(parts.networks(source))
    for call in source.each(ast.Call):
        name = dotted(call.func)
        if name in nets and parts.is_target(name) and parts.in_update(source, call):
            online = parts.online_of(name, nets)
            if online:
                yield call, online


def target_lines(source: Source, call: ast.AST) -> set[int]:
    """From the call of the target network to the last line of the target."""
    function = source.function(call)
    made = [n for n in parts.bootstraps(source) if source.function(n) is function and n.lineno >= call.lineno]
    return source.lines(source.statement(call), *made[:1])


@operator("online-bootstrap", "target-unused")
def online_bootstrap(source: Source) -> Iterator[Fault]:
    """The online network gives the value of the next state; the target network is kept and not asked."""
    for call, online in bootstrap_calls(source):
        if parts.unrecorded(source, call) or not re.search("actor|pi", online):
            yield fault(source.replace(call.func, online), also=target_lines(source, call))


@operator("leaking-bootstrap", "target-leak", frameworks=TORCH)
def leaking(source: Source) -> Iterator[Fault]:
    """The online network gives the value of the next state, and ``no_grad`` is gone."""
    for call, online in bootstrap_calls(source):
        if re.search("actor|pi", online):
            continue
        for block in source.around(call):
            if isinstance(block, ast.With) and "no_grad" in source.of(block.items[0].context_expr):
                whole = source.unwrapped(block).text.replace(source.of(call.func) + "(", online + "(")
                yield fault(source.replace(block, whole))


@operator("leaking-detach", "target-leak")
def leaking_detach(source: Source) -> Iterator[Fault]:
    """The online network in the target, and its detach or stop_gradient is gone, or the tape sees it."""
    for call, online in bootstrap_calls(source):
        function = source.function(call)
        if re.search("actor|pi", online) or parts.unrecorded(source, call):
            continue
        taped = any(
            isinstance(w, ast.With) and "GradientTape" in source.of(w.items[0].context_expr)
            for w in source.around(call)
        )
        edits = [source.replace(call.func, online)]
        for cut in source.calls("detach|stop_gradient", within=function):
            node = source.statement(cut)
            if isinstance(node, ast.Assign) and parts.TARGET_VALUE.search(last(node.targets[0])):
                inner = cut.args[0] if cut.args else cut.func.value
                edits.append(source.replace(cut, source.of(inner)))
                taped = True
        if taped:
            yield fault(*edits, also=target_lines(source, call))


@operator("target-also-trained", "target-in-optimizer", "target-leak", frameworks=TORCH)
def also_trained(source: Source) -> Iterator[Fault]:
    """The optimizer holds the target network, and nothing stops its gradient."""
    nets = list(parts.networks(source))
    for call, online in bootstrap_calls(source):
        name = dotted(call.func)
        block = next((b for b in source.around(call) if isinstance(b, ast.With)), None)
        for _, made in parts.optimizers(source).values():
            held = source.of(made.args[0]) if made.args else ""
            if block is not None and held == f"{online}.parameters()" and name in nets:
                both = f"list({online}.parameters()) + list({name}.parameters())"
                yield fault(source.replace(made.args[0], both), source.unwrapped(block))


@operator("self-target", "self-target", "zero-gradient", "loss-independent")
def self_target(source: Source) -> Iterator[Fault]:
    """The prediction is its own target."""
    for _, prediction, target in parts.regressions(source):
        yield fault(source.replace(target, parts.cut(source, source.of(prediction))))


def masks(source: Source) -> Iterator[ast.BinOp]:
    """``1 - done``."""
    for node in source.each(ast.BinOp):
        one = isinstance(node.left, ast.Constant) and node.left.value == 1
        if isinstance(node.op, ast.Sub) and one and parts.DONE.search(source.of(node.right)):
            yield node


@operator("unmasked-bootstrap", "unmasked-bootstrap")
def unmasked(source: Source) -> Iterator[Fault]:
    """The value of the next state counts although the episode has ended."""
    for node in masks(source):
        if parts.in_update(source, node) and isinstance(source.statement(node), ast.Assign):
            # the same shape and kind, and always 1
            text = f"torch.ones_like({source.of(node.right)})"
            ones = text if source.framework == "torch" else text.replace("torch.", "tf.")
            statement = source.statement(node)
            dropped = _without(source, node)
            yield fault(dropped or source.replace(node, ones), also=source.lines(statement))


def _without(source: Source, node: ast.BinOp):
    """The product without this factor, where it is one."""
    parent = source.parents[node]
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        other = parent.left if parent.right is node else parent.right
        return source.replace(parent, source.of(other))
    return None


@operator("mask-255", "terminal-mask")
def mask_255(source: Source) -> Iterator[Fault]:
    """``done`` as an image mask of 0 and 255."""
    for node in masks(source):
        if parts.in_update(source, node):
            yield fault(source.wrap(node.right, "255 * ", ""))
