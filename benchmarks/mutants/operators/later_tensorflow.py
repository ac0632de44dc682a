"""What people do wrong in TensorFlow and Keras alone."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.operators.later_networks import actions_judged
from mutants.operators.tapes import tapes
from mutants.registry import Fault, fault, operator
from mutants.source import Source, dotted, last

TF = ("tensorflow",)


@operator("predict-for-call", "numpy-round-trip", frameworks=TF)
def predict_for_call(source: Source) -> Iterator[Fault]:
    """``model.predict`` under the tape: its answer is numpy."""
    nets = parts.networks(source)
    for block in tapes(source):
        if getattr(source.function(block), "decorator_list", None):
            continue  # compiled: predict is refused there
        for call in source.each(ast.Call, within=block):
            if dotted(call.func) in nets:
                given = ", ".join(source.of(a) for a in call.args)
                yield fault(source.replace(call, f"{dotted(call.func)}.predict({given}, verbose=0)"))


@operator("numpy-function-action", "numpy-round-trip", "nondifferentiable-op", frameworks=TF)
def numpy_function_action(source: Source) -> Iterator[Fault]:
    """The policy's action is clipped by numpy on its way to the critic."""
    for uses in actions_judged(source):
        name = uses[0].id
        clipped = f"tf.numpy_function(np.clip, [{name}, -2.0, 2.0], tf.float32)"
        yield fault(*(source.replace(u, f"tf.ensure_shape({clipped}, {name}.shape)") for u in uses))


@operator("sampled-from-probabilities", "double-softmax", frameworks=TF)
def sampled_from_probabilities(source: Source) -> Iterator[Fault]:
    """``tf.random.categorical`` wants logits, and acting gives it probabilities."""
    for call in source.calls("categorical"):
        if call.args and not parts.in_update(source, call):
            yield fault(source.wrap(call.args[0], "tf.nn.softmax(", ")"))


@operator("softmax-in-last-layer", "double-softmax", frameworks=TF)
def softmax_in_last_layer(source: Source) -> Iterator[Fault]:
    """The policy ends with a softmax, and the loss takes its answer for logits."""
    takers = "log_softmax|categorical|sparse_softmax_cross_entropy_with_logits"
    also = source.lines(*source.calls(takers))
    if not also:
        return
    for call in source.calls("Dense"):
        statement = source.statement(call)
        alone = isinstance(statement, ast.Assign) and statement.value is call and not call.keywords
        if alone and re.search("actor|policy", last(statement.targets[0])):
            text = f'{source.of(call)[:-1]}, activation="softmax")'
            yield fault(source.replace(call, text), also=also)
    for name, (_, call) in parts.networks(source).items():
        if not re.search("actor|policy", name):
            continue
        if last(call.func) == "Model" and len(call.args) == 2:
            yield fault(source.wrap(call.args[1], "keras.layers.Softmax()(", ")"), also=also)
        elif not any(last(call.func) == c.name for c in parts.network_classes(source)):
            text = f"keras.Sequential([{source.of(call)}, keras.layers.Softmax()])"
            yield fault(source.replace(call, text), also=also)


@operator("exp-forgotten", "non-finite", frameworks=TF)
def exp_forgotten(source: Source) -> Iterator[Fault]:
    """A log deviation is taken for the deviation: it begins with 0, and its logarithm is infinite."""
    for name, node in source.assigns():
        exp = node.value
        if re.search("std|sigma", name) and isinstance(exp, ast.Call) and last(exp.func) == "exp":
            logs = [c for c in source.calls("log") if source.function(c) is source.function(node)]
            yield fault(source.replace(exp, source.of(exp.args[0])), also=source.lines(*logs))


@operator("clip-after-apply", "clip-after-step", "clip-unused", frameworks=TF)
def clip_after_apply(source: Source) -> Iterator[Fault]:
    """Gradients are clipped when they have been applied."""
    for clip in parts.statements(source, "clip_by_global_norm"):
        applied = parts.next_in_block(source, clip, "apply_gradients|apply")
        if applied is not None:
            yield fault(source.delete(clip), source.after(applied, source.of(clip)))


@operator("other-optimizer-applies", "wrong-variables", "not-in-optimizer", "stale-optimizer", frameworks=TF)
def other_optimizer(source: Source) -> Iterator[Fault]:
    """One optimizer is given the gradients of two networks."""
    found = list(parts.steps(source))
    for one in found:
        for other in found:
            mine, its = one.value.func.value, source.of(other.value.func.value)
            if source.of(mine) != its and source.function(one) is source.function(other):
                yield fault(source.replace(mine, its))
                break


@operator("twin-gradients-swapped", "wrong-variables", frameworks=TF)
def twins_swapped(source: Source) -> Iterator[Fault]:
    """Gradients of two networks of one shape are applied in the other order."""
    for name, node in source.assigns():
        sum_ = node.value
        if not (isinstance(sum_, ast.BinOp) and last(sum_.left) == last(sum_.right) == "trainable_variables"):
            continue
        turned = f"{source.of(sum_.right)} + {source.of(sum_.left)}"
        for step in parts.steps(source):
            for used in source.each(ast.Name, within=step):
                if used.id == name:
                    yield fault(source.replace(used, turned), also=source.lines(node))
