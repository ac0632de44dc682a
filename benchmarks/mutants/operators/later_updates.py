"""The order of an update again (PyTorch): wrong indents, wrong networks, wrong optimizers."""

import ast
from collections.abc import Iterator

from mutants import parts
from mutants.operators.cuts import loss_names, sums
from mutants.operators.handing import handovers
from mutants.operators.steps import CLIP, backwards, lines_of_backward
from mutants.registry import Fault, fault, operator
from mutants.source import Source

TORCH = ("torch",)


def owner(source: Source, statement: ast.stmt) -> str:
    """What a statement such as ``optimizer.step()`` calls a method of."""
    return source.of(statement.value.func.value)


def minibatch_loop(source: Source, statement: ast.stmt) -> ast.For | None:
    """The loop whose body it stands in, if that is one over parts of the data and not the training itself."""
    loop = source.parents[statement]
    outer = any(isinstance(a, ast.For | ast.While) for a in source.around(loop))
    inside = isinstance(loop, ast.For) and (outer or source.parents_class(loop) is not None)
    return loop if inside else None


@operator("step-outside-loop", "zero-grad-before-step", "no-step", frameworks=TORCH)
def step_outside(source: Source) -> Iterator[Fault]:
    """One indent too few: only the last minibatch is applied, what came before is cleared."""
    for step in parts.steps(source, "step"):
        loop = minibatch_loop(source, step)
        if loop is not None:
            cleared = [s for s in parts.statements(source, "zero_grad") if s in loop.body]
            also = source.lines(*cleared) | lines_of_backward(source, step)
            yield fault(source.delete(step), source.after(loop, source.of(step)), also=also)


@operator("zero-grad-outside-loop", "zero-grad-missing", frameworks=TORCH)
def zero_grad_outside(source: Source) -> Iterator[Fault]:
    """Cleared once before the minibatches: gradients pile up from one to the next."""
    for statement in parts.statements(source, "zero_grad"):
        loop = minibatch_loop(source, statement)
        if loop is not None:
            also = lines_of_backward(source, statement)
            yield fault(source.before(loop, source.of(statement)), source.delete(statement), also=also)


@operator("zero-grad-other-optimizer", "zero-grad-missing", "polluted-gradient", frameworks=TORCH)
def zero_grad_other(source: Source) -> Iterator[Fault]:
    """A line that was copied clears the gradients of the other optimizer."""
    cleared = [
        s for s in parts.statements(source, "zero_grad") if owner(source, s) in parts.optimizers(source)
    ]
    for one in cleared:
        for other in cleared:
            same = source.function(one) is source.function(other)
            if same and owner(source, one) != owner(source, other):
                edit = source.replace(one.value.func.value, owner(source, other))
                yield fault(edit, also=lines_of_backward(source, one))
                break


@operator("generator-used-up", "clip-unused", "clip-before-backward", frameworks=TORCH)
def generator_used_up(source: Source) -> Iterator[Fault]:
    """``parameters()`` is kept as a generator, and empty when it comes to clipping."""
    for clip in parts.statements(source, CLIP):
        given = source.of(clip.value.args[0])
        for statement, made in parts.optimizers(source).values():
            if given.endswith(".parameters()") and made.args and source.of(made.args[0]) == given:
                name = "self.params" if given.startswith("self.") else "params"
                yield fault(
                    source.before(statement, f"{name} = {given}"),
                    source.replace(made.args[0], name),
                    source.replace(clip.value.args[0], name),
                )


@operator("other-network-clipped", "clip-unused", "clip-before-backward", "wrong-variables", frameworks=TORCH)
def other_clipped(source: Source) -> Iterator[Fault]:
    """The clip is given another network's parameters."""
    nets = parts.networks(source)
    for clip in parts.statements(source, CLIP):
        given = source.of(clip.value.args[0])
        held = given.removesuffix(".parameters()")
        others = [n for n in nets if n != held and n.startswith("self.") == held.startswith("self.")]
        if held in nets and others:
            yield fault(source.replace(clip.value.args[0], f"{others[0]}.parameters()"))


@operator("two-backwards-one-graph", "backward-twice", frameworks=TORCH, crashes=True)
def two_backwards(source: Source) -> Iterator[Fault]:
    """Two losses of one network are differentiated one after the other, not their sum."""
    for node in sums(source):
        terms = list(dict.fromkeys(n.id for n in loss_names(source, node)))[:2]
        for statement in backwards(source):
            same = source.function(statement) is source.function(node)
            if same and owner(source, statement) == source.of(node.targets[0]) and len(terms) == 2:
                indent = " " * statement.col_offset
                text = f"{terms[0]}.backward()\n{indent}{terms[1]}.backward()"
                yield fault(source.replace(statement, text))


@operator("handover-only-once", "gradient-handover", "unexplained", frameworks=TORCH)
def only_once(source: Source) -> Iterator[Fault]:
    """A3C's usual guard, from the days when ``zero_grad`` kept the tensor: the first gradient stays for ever."""
    for loop in handovers(source):
        first = loop.body[0]
        if isinstance(first, ast.Assign) and isinstance(first.targets[0], ast.Attribute):
            shared = source.of(first.targets[0].value)
            guard = source.before(first, f"if {shared}.grad is not None:\n    continue")
            cleared = [s for s in parts.statements(source, "zero_grad") if s in source.block(loop)]
            yield fault(guard, also=source.lines(loop, *cleared))


@operator("handover-too-early", "gradient-handover", "no-step", "unexplained", frameworks=TORCH)
def too_early(source: Source) -> Iterator[Fault]:
    """Gradients are handed over before ``backward`` has made them."""
    for loop in handovers(source):
        for statement in backwards(source):
            if statement in source.block(loop):
                text = source.shifted(loop, -loop.col_offset)
                yield fault(source.before(statement, text), source.delete(loop), also=source.lines(statement))
