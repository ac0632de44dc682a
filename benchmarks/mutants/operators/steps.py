"""The order of backward, clip, step and zero_grad."""

import ast
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

TORCH = ("torch",)
CLIP = "clip_grad_norm_|clip_grad_value_"


def backwards(source: Source) -> Iterator[ast.stmt]:
    """Statements that compute gradients."""
    return parts.statements(source, "backward")


def lines_of_backward(source: Source, statement: ast.stmt) -> set[int]:
    """The lines of the backward calls in the same block."""
    block = source.block(statement)
    return source.lines(*(s for s in backwards(source) if s in block))


@operator("step-forgotten", "no-step")
def no_step(source: Source) -> Iterator[Fault]:
    """Gradients are computed and never applied."""
    for step in parts.steps(source):
        asked = source.lines(*source.calls("backward|gradient", within=source.function(step)))
        yield fault(source.delete(step), also=asked)


@operator("backward-forgotten", "no-step", "unexplained", "loss-independent", frameworks=TORCH)
def no_backward(source: Source) -> Iterator[Fault]:
    """Nothing ever computes a gradient; any line that has to do with the update will do."""
    for statement in backwards(source):
        near = source.lines(*source.block(statement))
        yield fault(source.delete(statement), also=near)


@operator("zero-grad-forgotten", "zero-grad-missing", "polluted-gradient", frameworks=TORCH)
def no_zero_grad(source: Source) -> Iterator[Fault]:
    """Gradients pile up."""
    for statement in parts.statements(source, "zero_grad"):
        yield fault(source.delete(statement), also=lines_of_backward(source, statement), own=False)


@operator("zero-grad-before-step", "zero-grad-before-step", frameworks=TORCH)
def zero_before_step(source: Source) -> Iterator[Fault]:
    """Gradients are cleared between backward and step."""
    for statement in parts.statements(source, "zero_grad"):
        after = parts.next_in_block(source, statement, "backward")
        if after is not None:
            yield fault(source.delete(statement), source.after(after, source.of(statement)))


@operator("wrong-step", "no-step", "wrong-variables", "polluted-gradient", frameworks=TORCH)
def wrong_step(source: Source) -> Iterator[Fault]:
    """Another optimizer steps; its own never does."""
    found = list(parts.steps(source, "step"))
    for one in found:
        for other in found:
            if source.of(one) != source.of(other):
                yield fault(source.replace(one, source.of(other)), also=lines_of_backward(source, one))


@operator("clip-before-backward", "clip-before-backward", frameworks=TORCH)
def clip_before(source: Source) -> Iterator[Fault]:
    """Clipped before there are gradients."""
    for clip in parts.statements(source, CLIP):
        block = source.block(clip)
        for statement in backwards(source):
            if statement in block and statement.lineno < clip.lineno:
                yield fault(source.before(statement, source.of(clip)), source.delete(clip))


@operator("clip-after-step", "clip-after-step", frameworks=TORCH)
def clip_after(source: Source) -> Iterator[Fault]:
    """Clipped when the step has been taken."""
    for clip in parts.statements(source, CLIP):
        step = parts.next_in_block(source, clip, "step")
        if step is not None:
            yield fault(source.delete(clip), source.after(step, source.of(clip)))


@operator("clip-to-nothing", "clip-to-nothing")
def clip_to_nothing(source: Source) -> Iterator[Fault]:
    """A threshold that leaves nothing."""
    for call in source.calls(f"{CLIP}|clip_by_global_norm"):
        limit = [*call.args[1:], *(k.value for k in call.keywords)][:1]
        yield from (fault(source.replace(value, "1e-9")) for value in limit)


@operator("clip-unused", "clip-unused", frameworks=("tensorflow",))
def clip_unused(source: Source) -> Iterator[Fault]:
    """The clipped gradients get a name of their own, the raw ones are applied."""
    for node in source.each(ast.Assign):
        if isinstance(node.value, ast.Call) and last(node.value.func) == "clip_by_global_norm":
            name = node.targets[0].elts[0] if isinstance(node.targets[0], ast.Tuple) else node.targets[0]
            if source.of(name) == source.of(node.value.args[0]):
                yield fault(source.replace(name, f"clipped_{last(name)}"))


@operator("clamped-copy", "clip-unused", frameworks=TORCH)
def clamped_copy(source: Source) -> Iterator[Fault]:
    """``grad.clamp`` without the underscore: its result is dropped."""
    for clip in parts.statements(source, CLIP):
        held = source.of(clip.value.args[0])
        yield fault(source.replace(clip, f"[p.grad.clamp(-1.0, 1.0) for p in {held}]"))


@operator("backward-twice", "backward-twice", frameworks=TORCH, crashes=True)
def backward_twice(source: Source) -> Iterator[Fault]:
    """The loss is differentiated again after its step."""
    for statement in backwards(source):
        step = parts.next_in_block(source, statement, "step")
        if step is not None:
            yield fault(source.after(step, source.of(statement)))


@operator("state-not-detached", "backward-twice", "in-place-modified", frameworks=TORCH, crashes=True)
def state_kept(source: Source) -> Iterator[Fault]:
    """A recurrent state carries its graph into the next update."""
    for name, node in source.assigns():
        value = node.value
        if isinstance(value, ast.Call) and last(value.func) == "detach" and "hidden" in name:
            carried = {n.lineno for n in source.each(ast.Assign) if "self.hidden" in source.of(n.targets[0])}
            yield fault(source.delete(node), also=carried | source.lines(*backwards(source)))


@operator("in-place-activation", "in-place-modified", frameworks=TORCH, crashes=True)
def in_place(source: Source) -> Iterator[Fault]:
    """The output of an activation is changed in place."""
    for name, node in source.assigns():
        value = node.value
        if (
            isinstance(value, ast.Call)
            and last(value.func) in ("tanh", "exp", "softmax", "sigmoid")
            and isinstance(node.targets[0], ast.Name)
        ):
            yield fault(source.after(node, f"{name} *= 0.99"))


@operator("step-between", "in-place-modified", frameworks=TORCH, crashes=True)
def step_between(source: Source) -> Iterator[Fault]:
    """The second loss is computed before the first step, and differentiated after it."""
    for step in parts.steps(source, "step"):
        block = source.block(step)
        rest = block[block.index(step) + 1 :]
        later = [s for s in rest if s in set(backwards(source))]
        before = [s for s in rest if later and s.lineno < later[0].lineno and isinstance(s, ast.Assign)]
        if before:
            moved = "\n".join(source.of(s) for s in before)
            first = block[block.index(step) - 1]
            edits = [source.delete(s) for s in before]
            yield fault(source.before(first, moved), *edits, also=source.lines(step), own=False)
