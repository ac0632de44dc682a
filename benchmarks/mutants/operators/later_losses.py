"""Formulas of losses, as they come out of a hurried pen: signs, logarithms, the wrong loss."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

VALUE_TERM = re.compile(r"^(critic|value|vf?|c|baseline)_?loss$")


def swapped(source: Source, node: ast.BinOp):
    """A difference the other way round."""
    return (
        source.replace(node.left, source.of(node.right)),
        source.replace(node.right, source.of(node.left)),
    )


def policy_lines(source: Source) -> set[int]:
    """Where the policy's loss is made."""
    named = [node for name, node in source.assigns() if "loss" in name]
    used = [
        n for n in named if any(parts.LOG_PROB.search(x.id) for x in source.each(ast.Name, within=n.value))
    ]
    return source.lines(*parts.policy_losses(source), *used)


def differences(source: Source) -> Iterator[tuple[str, ast.BinOp]]:
    """Subtractions where gradients are computed, with the name that their statement gives a value to."""
    for name, node in source.assigns():
        if parts.in_update(source, node):
            for inner in source.each(ast.BinOp, within=node.value):
                if isinstance(inner.op, ast.Sub):
                    yield name, inner


@operator("advantage-reversed", "value-sign")
def advantage_reversed(source: Source) -> Iterator[Fault]:
    """The advantage is the value minus the return."""
    for name, node in differences(source):
        sides = source.of(node.left), source.of(node.right)
        named = re.search(r"^adv|delta|^td$|td_error", name)
        if named and re.match(r"(returns?|targets?)\b", sides[0]) and re.search("value|baseline", sides[1]):
            yield fault(*swapped(source, node), also=policy_lines(source))


@operator("ratio-inverted", "value-sign")
def ratio_inverted(source: Source) -> Iterator[Fault]:
    """Old over new probability."""
    for name, node in differences(source):
        if "ratio" in name:
            yield fault(*swapped(source, node), also=policy_lines(source))


@operator("value-loss-subtracted", "value-sign", "exploding")
def value_loss_subtracted(source: Source) -> Iterator[Fault]:
    """The critic's loss has the sign of its neighbour, the entropy bonus."""
    for name, node in source.assigns():
        if "loss" not in name or not parts.in_update(source, node):
            continue
        for term in source.each(ast.BinOp, within=node.value):
            names = [n.id for n in source.each(ast.Name, within=term.right)]
            if isinstance(term.op, ast.Add) and any(VALUE_TERM.search(n) for n in names):
                yield fault(source.replace(term, f"{source.of(term.left)} - {source.of(term.right)}"))


@operator("log-pi-sign", "entropy-sign", "value-sign")
def log_pi_sign(source: Source) -> Iterator[Fault]:
    """SAC's entropy term with the other sign, in the policy's loss or in the target."""
    for term in source.each(ast.BinOp):
        weighed = isinstance(term.op, ast.Mult) and "alpha" in source.of(term.left)
        if not weighed or not parts.LOG_PROB.search(source.of(term.right)):
            continue
        parent = source.parents[term]
        if not (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub)):
            continue
        also = source.lines(source.statement(term))
        if parent.left is term:
            yield fault(source.replace(term, f"-{source.of(term)}"), also=also)
        else:
            text = f"{source.of(parent.left)} + {source.of(term)}"
            yield fault(source.replace(parent, text), also=also)


@operator("log-forgotten", "surrogate-missing", "value-sign")
def log_forgotten(source: Source) -> Iterator[Fault]:
    """Probabilities where the policy gradient wants their logarithms."""
    for name, node in source.assigns():
        entropy = "entropy" in getattr(source.function(node), "name", "")
        if re.search("logp|log_prob", name) and isinstance(node.value, ast.Call) and not entropy:
            yield from _without_log(source, node.value)
    for node in source.each(ast.Return):
        function = source.function(node)
        if re.search(r"log_?prob", getattr(function, "name", "")):
            for call in source.calls("log_softmax", within=node):
                yield from _without_log(source, call)


def _without_log(source: Source, call: ast.Call) -> Iterator[Fault]:
    if last(call.func) == "log_softmax":
        text = source.of(call.func).replace("log_softmax", "softmax")
        yield fault(source.replace(call.func, text), also=policy_lines(source))
    elif source.of(call.func) == "torch.log":
        yield fault(source.replace(call, source.of(call.args[0])), also=policy_lines(source))


@operator("clipped-error", "zero-gradient", "clip-to-nothing", "vanishing")
def clipped_error(source: Source) -> Iterator[Fault]:
    """The error itself is clipped to [-1, 1], DQN's clipped gradient misread: a large error has no gradient."""
    torch = source.framework == "torch"
    for loss, prediction, target in parts.regressions(source):
        one, other = source.of(prediction), source.of(target)
        if isinstance(loss, ast.BinOp):
            wrapped = ("torch.clamp(" if torch else "tf.clip_by_value(", ", -1.0, 1.0)")
            yield fault(source.wrap(loss, *wrapped))
        elif torch:
            yield fault(source.replace(loss, f"({one} - {other}).clamp(-1.0, 1.0).pow(2).mean()"))
        else:
            clipped = f"tf.clip_by_value({other} - {one}, -1.0, 1.0)"
            yield fault(source.replace(loss, f"tf.reduce_mean(tf.square({clipped}))"))


@operator(
    "other-loss-differentiated", "loss-independent", "backward-twice", "outside-tape", "wrong-variables"
)
def other_loss(source: Source) -> Iterator[Fault]:
    """A block that was copied, and still differentiates the loss of the block above."""
    asked = [(call, call.func.value) for call in source.calls("backward") if not call.args]
    asked += [(call, call.args[0]) for call in source.calls("gradient") if len(call.args) == 2]
    for (one, first), (other, second) in pairwise(asked):
        same = source.function(one) is source.function(other)
        if same and isinstance(first, ast.Name) and source.of(first) != source.of(second):
            yield fault(source.replace(second, first.id))


@operator("distribution-of-constants", "detached")
def distribution_of_constants(source: Source) -> Iterator[Fault]:
    """The distribution is made of what the network said, cut off."""
    for call in source.calls("Categorical|Normal|log_softmax|sparse_softmax_cross_entropy_with_logits"):
        given = [k.value for k in call.keywords if k.arg in ("logits", "loc", "probs")] + call.args[:1]
        if given:
            yield fault(source.replace(given[0], parts.cut(source, source.of(given[0]))))
