"""Shapes and axes."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

FORM = "squeeze|view|flatten|reshape"


def loss_lines(source: Source) -> set[int]:
    """Every line on which a loss or a target is made."""
    named = [n for name, n in source.assigns() if re.search(r"loss|advantage|delta", name, re.I)]
    compared = [loss for loss, _, _ in parts.regressions(source)]
    return source.lines(*named, *parts.bootstraps(source), *compared)


@operator("squeeze-forgotten", "broadcast-loss")
def squeeze_forgotten(source: Source) -> Iterator[Fault]:
    """The prediction keeps a column that the target does not have."""
    for call in source.calls(FORM):
        words = source.of(call)
        if isinstance(call.func, ast.Attribute) and re.search(r"\((-1|1|dim=1|dim=-1)?\)$", words):
            yield fault(source.replace(call, source.of(call.func.value)), also=loss_lines(source))
        elif "tf.squeeze" in words and call.args:
            yield fault(source.replace(call, source.of(call.args[0])), also=loss_lines(source))


@operator("column-forgotten", "broadcast-loss")
def column_forgotten(source: Source) -> Iterator[Fault]:
    """Rewards or ends of episodes are rows where everything else is a column."""
    for call in source.calls("unsqueeze|reshape|view|expand_dims"):
        words = source.of(call)
        if (
            isinstance(call.func, ast.Attribute)
            and re.search(r"\((1|-1|-1, 1|dim=1)\)$", words)
            and "action" not in source.of(source.statement(call))
            and "tensor(a" not in words
        ):
            yield fault(source.replace(call, source.of(call.func.value)), also=loss_lines(source))


@operator("target-column", "broadcast-loss")
def target_column(source: Source) -> Iterator[Fault]:
    """The target gets a column too many."""
    for loss, prediction, target in parts.regressions(source):
        del prediction
        text = source.of(target)
        wrapped = f"{text}.unsqueeze(-1)" if source.framework == "torch" else f"tf.expand_dims({text}, -1)"
        yield fault(source.replace(target, wrapped), also=source.lines(source.statement(loss)))


@operator("softmax-over-batch", "wrong-axis")
def softmax_axis(source: Source) -> Iterator[Fault]:
    """Softmax over the batch instead of over the actions."""
    for call in source.calls("softmax|log_softmax|Softmax|LogSoftmax"):
        named = [k.value for k in call.keywords if k.arg in ("dim", "axis")]
        if named:
            yield fault(source.replace(named[0], "0"))
        elif source.framework == "tensorflow" and len(call.args) == 1:
            yield fault(source.wrap(call.args[0], "", ", axis=0"))


@operator("sum-over-batch", "wrong-axis", "broadcast-loss")
def sum_axis(source: Source) -> Iterator[Fault]:
    """A sum over actions becomes one over the batch, or over everything."""
    for call in source.calls("sum|mean|reduce_sum|reduce_mean"):
        if _averaged(source, call):
            continue  # the mean of it is the same up to a factor
        method = source.framework == "torch" and isinstance(call.func, ast.Attribute)
        values = call.args if method else call.args[1:]
        axes = [k for k in call.keywords if k.arg in ("dim", "axis")]
        keeps = any(k.arg in ("keepdim", "keepdims") for k in call.keywords)
        if axes and not keeps:
            yield fault(source.replace(axes[0].value, "0"), also=loss_lines(source))
        elif values and isinstance(values[0], ast.Constant | ast.UnaryOp):
            yield fault(source.replace(values[0], "0"), also=loss_lines(source))


def _averaged(source: Source, call: ast.Call) -> bool:
    parent = source.parents[call]
    method = isinstance(parent, ast.Attribute) and parent.attr == "mean"
    return method or (isinstance(parent, ast.Call) and last(parent.func) in ("mean", "reduce_mean"))


@operator("max-over-batch", "wrong-axis", "broadcast-loss")
def max_axis(source: Source) -> Iterator[Fault]:
    """The best value of the whole batch instead of each row's."""
    for call in source.calls("max|reduce_max|amax"):
        if parts.in_update(source, call) and call.keywords and call.keywords[0].arg in ("dim", "axis"):
            parent = source.parents[call]
            also = loss_lines(source)
            if isinstance(parent, ast.Subscript):
                yield fault(source.replace(parent, f"{source.of(call.func)}()"), also=also)
            elif last(call.func) == "reduce_max":
                yield fault(source.replace(call, f"tf.reduce_max({source.of(call.args[0])})"), also=also)


@operator("probabilities-as-logits", "double-softmax")
def double_softmax(source: Source) -> Iterator[Fault]:
    """Probabilities where logits belong."""
    soft = "torch.softmax({}, dim=-1)" if source.framework == "torch" else "tf.nn.softmax({})"
    for call in source.each(ast.Call):
        for keyword in call.keywords:
            if keyword.arg == "logits":
                yield fault(source.replace(keyword.value, soft.format(source.of(keyword.value))))
    for call in source.calls("log_softmax|softmax|categorical|Categorical"):
        if call.args and parts.in_update(source, call):
            yield fault(source.replace(call.args[0], soft.format(source.of(call.args[0]))))
