"""Numbers that make training suffer: NaN, saturation, dead units."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.operators.membership import layers
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last


def everywhere(source: Source) -> set[int]:
    """Any line will do: what is unhealthy has no place of its own in the catalogue."""
    return set(range(1, len(source.text.splitlines()) + 1))


@operator("log-of-zero", "non-finite")
def log_of_zero(source: Source) -> Iterator[Fault]:
    """The small number that keeps a logarithm finite takes away instead of adding."""
    for call in source.calls("log"):
        given = call.args[0] if call.args else None
        if given is not None and source.of(call.func) in ("torch.log", "tf.math.log"):
            yield fault(source.wrap(given, "", " - 1.0"))


@operator("division-by-zero", "non-finite")
def division_by_zero(source: Source) -> Iterator[Fault]:
    """Advantages are divided by a deviation that is zero."""
    for node in source.each(ast.BinOp):
        if isinstance(node.op, ast.Div) and "std()" in source.of(node.right):
            yield fault(source.wrap(node.right, "0.0 * (", ")"), also=everywhere(source))


@operator("saturated-output", "zero-gradient", "vanishing")
def saturated(source: Source) -> Iterator[Fault]:
    """The actor's output is saturated from the beginning."""
    for call in source.calls("tanh"):
        forward = source.function(call)
        if forward in set(parts.forwards(source)) and call.args:
            yield fault(source.wrap(call.args[0], "1e4 * (", ")"), also=everywhere(source))


@operator("dead-units", "zero-gradient")
def dead_units(source: Source) -> Iterator[Fault]:
    """Biases that keep every unit of a ReLU layer at zero."""
    for node, call in layers(source):
        name = source.of(node.targets[0])
        if source.framework == "torch" and f"relu({name}(" in source.text:
            text = f"nn.init.constant_({name}.bias, -100.0)"
            yield fault(source.after(node, text), also=everywhere(source))
        elif last(call.func) == "Dense" and "relu" in source.of(call):
            start = ", bias_initializer=keras.initializers.Constant(-100.0))"
            yield fault(source.replace(call, source.of(call)[:-1] + start), also=everywhere(source))


@operator("clamped-values", "zero-gradient")
def clamped(source: Source) -> Iterator[Fault]:
    """Predictions are clamped to a range that they are never in."""
    for _, prediction, _ in parts.regressions(source):
        text = source.of(prediction)
        name = "torch.clamp" if source.framework == "torch" else "tf.clip_by_value"
        yield fault(source.replace(prediction, f"{name}({text}, 50.0, 60.0)"), also=everywhere(source))


@operator("vanishing-scale", "vanishing", "zero-gradient")
def vanishing_scale(source: Source) -> Iterator[Fault]:
    """Features are scaled down to nothing before the last layers."""
    for forward in parts.forwards(source):
        made = [n for _, n in source.assigns(within=forward) if isinstance(n.value, ast.Call)]
        for node in made[:1]:
            yield fault(source.wrap(node.value, "1e-8 * ", ""), also=everywhere(source))


@operator("softmax-of-one", "zero-gradient")
def softmax_of_one(source: Source) -> Iterator[Fault]:
    """A softmax over the only output of a critic: always 1."""
    for call in source.calls("Dense"):
        if source.of(call).endswith("Dense(1)"):
            yield fault(
                source.replace(call, f'{source.of(call)[:-1]}, activation="softmax")'),
                also=everywhere(source),
            )
    singles = [node for node, call in layers(source) if re.search(r", 1\)$", source.of(call))]
    for node in singles:
        for call in source.each(ast.Call, within=source.parents_class(node)):
            if source.of(call.func) == source.of(node.targets[0]) and source.framework == "torch":
                yield fault(source.wrap(call, "torch.softmax(", ", dim=-1)"), also=everywhere(source))
