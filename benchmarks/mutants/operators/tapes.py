"""TensorFlow's tape: what runs outside of it, and what it is asked for."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

TF = ("tensorflow",)


def tapes(source: Source) -> Iterator[ast.With]:
    """Blocks under a GradientTape."""
    for block in source.each(ast.With):
        if "GradientTape" in source.of(block.items[0].context_expr):
            yield block


@operator("forward-before-tape", "outside-tape", frameworks=TF)
def forward_before(source: Source) -> Iterator[Fault]:
    """The network is asked one line above the tape."""
    for block in tapes(source):
        first = block.body[0]
        if len(block.body) > 1 and isinstance(first, ast.Assign) and isinstance(first.value, ast.Call):
            text = source.shifted(first, block.col_offset - first.col_offset)
            yield fault(source.before(block, text), source.delete(first), own=True)


@operator("loss-after-tape", "outside-tape", frameworks=TF)
def loss_after(source: Source) -> Iterator[Fault]:
    """The loss is computed one line below the tape's block."""
    for block in tapes(source):
        final = block.body[-1]
        if len(block.body) > 1 and isinstance(final, ast.Assign):
            text = source.shifted(final, block.col_offset - final.col_offset)
            yield fault(source.after(block, text), source.delete(final))


@operator("paused-tape", "outside-tape", frameworks=TF)
def paused(source: Source) -> Iterator[Fault]:
    """The forward pass runs while the tape is paused."""
    for block in tapes(source):
        name = block.items[0].optional_vars
        calls = [s for s in block.body if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
        if name is not None and calls:
            text = f"with {source.of(name)}.stop_recording(): "
            yield fault(source.wrap(calls[0], text, ""))


@operator("tape-asked-twice", "outside-tape", frameworks=TF)
def asked_twice(source: Source) -> Iterator[Fault]:
    """Two gradients from a tape that is not persistent."""
    for block in tapes(source):
        made = block.items[0].context_expr
        if "persistent=True" in source.of(made):
            asked = source.lines(*source.calls("gradient"))
            yield fault(source.replace(made, "tf.GradientTape()"), also=asked)


@operator("other-variables-asked", "wrong-variables", "loss-independent", frameworks=TF)
def other_variables(source: Source) -> Iterator[Fault]:
    """The gradient is asked for another network's variables; what comes out is applied to the right ones."""
    found = list(source.calls("gradient"))
    for one in found:
        for other in found:
            if (
                one is not other
                and len(one.args) == len(other.args) == 2
                and source.of(one.args[1]) != source.of(other.args[1])
            ):
                yield fault(source.replace(one.args[1], source.of(other.args[1])))


@operator("applied-to-target", "wrong-variables", "target-in-optimizer", "no-step", frameworks=TF)
def applied_to_target(source: Source) -> Iterator[Fault]:
    """Gradients of the online network are applied to its target network."""
    names = list(parts.networks(source))
    for step in parts.steps(source):
        for attribute in source.each(ast.Attribute, within=step):
            if attribute.attr == "trainable_variables":
                net = source.of(attribute.value)
                twins = [t for t in names if parts.is_target(t) and parts.online_of(t, names) == net]
                yield from (fault(source.replace(attribute.value, twin)) for twin in twins[:1])


@operator("variables-left-out", "wrong-variables", "not-in-optimizer", frameworks=TF)
def left_out(source: Source) -> Iterator[Fault]:
    """Of two networks' variables only the first one's are trained."""
    for _, node in source.assigns():
        value = node.value
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            sides = [last(side) for side in (value.left, value.right)]
            if sides == ["trainable_variables"] * 2:
                also = source.lines(*source.calls("gradient|apply_gradients"))
                yield fault(source.replace(value, source.of(value.left)), also=also)


@operator("variables-sliced", "wrong-variables", "not-in-optimizer", frameworks=TF)
def sliced(source: Source) -> Iterator[Fault]:
    """Gradient and step leave out the first layer, as in fine-tuning code that was copied."""
    for call in source.calls("gradient"):
        if len(call.args) == 2 and last(call.args[1]) == "trainable_variables":
            text = source.of(call.args[1])
            function = source.function(call)
            same = [n for n in source.each(ast.Attribute, within=function) if source.of(n) == text]
            edits = [source.wrap(n, "", "[2:]") for n in same if parts.in_update(source, n)]
            yield fault(*edits)


@operator("untracked-weight", "not-tracked", frameworks=TF)
def untracked_weight(source: Source) -> Iterator[Fault]:
    """A plain ``tf.Variable`` where ``add_weight`` tells Keras about it."""
    for call in source.calls("add_weight"):
        shape = next((k.value for k in call.keywords if k.arg == "shape"), None)
        if shape is not None:
            yield fault(source.replace(call, f"tf.Variable(tf.zeros({source.of(shape)}))"))


@operator("layer-made-in-call", "not-tracked", frameworks=TF)
def made_in_call(source: Source) -> Iterator[Fault]:
    """A layer is made anew in each ``call``."""
    for forward in parts.forwards(source):
        uses = [c for c in source.each(ast.Call, within=forward) if source.of(c.func).startswith("self.")]
        for call in uses[:1]:
            made = _layer(source, source.of(call.func))
            if made and re.search(r"Dense", made):
                yield fault(source.replace(call.func, made))


def _layer(source: Source, name: str) -> str | None:
    for node in source.each(ast.Assign):
        if source.of(node.targets[0]) == name and isinstance(node.value, ast.Call):
            return source.of(node.value)
    return None
