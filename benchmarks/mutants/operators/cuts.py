"""Values that are cut off from the gradient between a parameter and the loss."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

TORCH = ("torch",)
TF = ("tensorflow",)


def predictions(source: Source) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What regression losses compare with their targets."""
    for loss, prediction, _ in parts.regressions(source):
        if not parts.unrecorded(source, loss):
            yield loss, prediction


def log_probs(source: Source) -> Iterator[ast.Name]:
    """Log-probabilities where a policy's loss uses them."""
    for loss in parts.policy_losses(source):
        names = [n for n in source.each(ast.Name, within=loss.value) if parts.LOG_PROB.search(n.id)]
        yield from (n for n in names if "old" not in n.id)


def inside(source: Source) -> set[int]:
    """The lines of forward passes: an operation on the parameter's path may be there."""
    return source.lines(*parts.forwards(source))


def recorded_lines(source: Source) -> set[int]:
    """The lines of forward passes and of updates."""
    functions = [f for f in parts.update_functions(source) if hasattr(f, "lineno")]
    return inside(source) | source.lines(*functions)


@operator("detach-action", "detached")
def detach_action(source: Source) -> Iterator[Fault]:
    """The policy's action is cut off where the critic judges it."""
    for _, used in parts.policy_actions(source):
        yield fault(source.replace(used, parts.cut(source, used.id)))


@operator("detach-prediction", "detached")
def detach_prediction(source: Source) -> Iterator[Fault]:
    """The prediction is cut off instead of the target."""
    for _, prediction in predictions(source):
        yield fault(source.replace(prediction, parts.cut(source, source.of(prediction))))


@operator("detach-log-prob", "detached")
def detach_log_prob(source: Source) -> Iterator[Fault]:
    """The log-probability is cut off in the policy's loss."""
    for name in log_probs(source):
        yield fault(source.replace(name, parts.cut(source, name.id)))


@operator("detach-features", "detached")
def detach_features(source: Source) -> Iterator[Fault]:
    """A forward pass cuts off its own first layers."""
    for forward in parts.forwards(source):
        made = [n for _, n in source.assigns(within=forward) if isinstance(n.value, ast.Call)]
        for node in made[:1]:
            yield fault(source.replace(node.value, parts.cut(source, source.of(node.value))))


@operator("data-features", "detached", frameworks=TORCH)
def data_features(source: Source) -> Iterator[Fault]:
    """The same by ``.data``."""
    for forward in parts.forwards(source):
        made = [n for _, n in source.assigns(within=forward) if isinstance(n.value, ast.Call)]
        for node in made[-1:]:
            yield fault(source.wrap(node.value, "", ".data"))


@operator("detach-stored-log-prob", "detached", frameworks=TORCH)
def detach_stored(source: Source) -> Iterator[Fault]:
    """Log-probabilities are cut off when they are stored during the episode."""
    for call in source.calls("append"):
        if call.args and "log_prob(" in source.of(call.args[0]):
            yield fault(source.wrap(call.args[0], "", ".detach()"))


@operator("no-grad-prediction", "no-grad-block", frameworks=TORCH)
def no_grad_prediction(source: Source) -> Iterator[Fault]:
    """The prediction is computed under ``no_grad``."""
    for loss, prediction in predictions(source):
        for node in source.each(ast.Assign, within=source.function(loss)):
            bound = {n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)}
            called = isinstance(node.value, ast.Call) and node.lineno < loss.lineno
            if (
                called
                and source.of(prediction) in bound
                and not parts.unrecorded(source, node)
                and last(node.value.func) != "stack"
            ):
                yield fault(source.wrap(node, "with torch.no_grad(): ", ""), also=inside(source))


@operator("no-grad-method", "no-grad-block", frameworks=TORCH)
def no_grad_method(source: Source) -> Iterator[Fault]:
    """A method of the network that training uses is decorated with ``no_grad``."""
    for network in parts.network_classes(source):
        for method in network.body:
            if isinstance(method, ast.FunctionDef) and method.name not in ("__init__", "act", "reset"):
                yield fault(source.before(method, "@torch.no_grad()"), also=source.lines(method))


@operator("grad-never-enabled", "no-grad-block", frameworks=TORCH)
def grad_left_disabled(source: Source) -> Iterator[Fault]:
    """Gradients are switched off for acting and never switched on again."""
    for block in source.each(ast.With):
        if "no_grad" in source.of(block.items[0].context_expr) and not parts.in_update(source, block):
            whole = source.unwrapped(block)
            indent = " " * block.col_offset
            switched = f"torch.set_grad_enabled(False)\n{indent}{whole.text}"
            yield fault(source.replace(block, switched), also=recorded_lines(source))


@operator("tolist-prediction", "numpy-round-trip", frameworks=TORCH)
def tolist_prediction(source: Source) -> Iterator[Fault]:
    """The prediction becomes a list and a new tensor."""
    for _, prediction in predictions(source):
        text = source.of(prediction)
        yield fault(source.replace(prediction, f"torch.tensor({text}.tolist(), requires_grad=True)"))


@operator("tensor-of-list", "numpy-round-trip", frameworks=TORCH)
def tensor_of_list(source: Source) -> Iterator[Fault]:
    """``torch.tensor`` of a list of tensors, where ``torch.stack`` was meant."""
    for call in source.calls("stack"):
        if source.of(call.func) == "torch.stack" and source.of(call.args[0]) not in ("rewards", "masks"):
            yield fault(source.replace(call.func, "torch.tensor"))


@operator("numpy-value", "numpy-round-trip", frameworks=TF)
def numpy_value(source: Source) -> Iterator[Fault]:
    """The value leaves TensorFlow before the loss is made."""
    for _, prediction in predictions(source):
        yield fault(source.wrap(prediction, "tf.constant(", ".numpy())"))


@operator("numpy-log-prob", "numpy-round-trip")
def numpy_log_prob(source: Source) -> Iterator[Fault]:
    """Log-probabilities leave the framework before the policy's loss."""
    for name in log_probs(source):
        torch = f"torch.from_numpy({name.id}.detach().numpy())"
        tensorflow = f"tf.convert_to_tensor({name.id}.numpy())"
        yield fault(source.replace(name, torch if source.framework == "torch" else tensorflow))


@operator("item-term", "numpy-round-trip")
def item_term(source: Source) -> Iterator[Fault]:
    """One term of a sum of losses is a Python number."""
    for node in sums(source):
        for name in loss_names(source, node):
            text = f"{name.id}.item()" if source.framework == "torch" else f"float({name.id})"
            yield fault(source.replace(name, text))


def sums(source: Source) -> Iterator[ast.Assign]:
    """Losses that are made of several losses."""
    for name, node in source.assigns():
        if (
            "loss" in name
            and isinstance(node.value, ast.BinOp)
            and parts.in_update(source, node)
            and len(loss_names(source, node)) >= 2
        ):
            yield node


def loss_names(source: Source, node: ast.Assign) -> list[ast.Name]:
    """The losses in such a sum."""
    return [n for n in source.each(ast.Name, within=node.value) if re.search(r"loss(_?\d)?$|^loss_", n.id)]


@operator("sample-for-rsample", "nondifferentiable-op", frameworks=TORCH)
def sample_for_rsample(source: Source) -> Iterator[Fault]:
    """``sample`` where the gradient must go through the draw."""
    for call in source.calls("rsample"):
        yield fault(source.replace(call, source.of(call).replace(".rsample(", ".sample(")))


@operator("rounded-action", "nondifferentiable-op", "zero-gradient")
def rounded_action(source: Source) -> Iterator[Fault]:
    """The policy's action is rounded before the critic judges it."""
    for _, used in parts.policy_actions(source):
        name = "torch.round" if source.framework == "torch" else "tf.round"
        yield fault(source.wrap(used, f"{name}(", ")"))


@operator("integer-action", "nondifferentiable-op")
def integer_action(source: Source) -> Iterator[Fault]:
    """The policy's action is cast to integers and back."""
    for _, used in parts.policy_actions(source):
        name = used.id
        torch, tensorflow = f"{name}.long().float()", f"tf.cast(tf.cast({name}, tf.int32), tf.float32)"
        yield fault(source.replace(used, torch if source.framework == "torch" else tensorflow))


@operator("argmax-prediction", "nondifferentiable-op", frameworks=TORCH)
def argmax_prediction(source: Source) -> Iterator[Fault]:
    """The index of the largest value in place of the value that was gathered."""
    for _, node in source.assigns():
        call = node.value
        while isinstance(call, ast.Call) and last(call.func) == "squeeze":
            call = call.func.value
        if (
            isinstance(call, ast.Call)
            and last(call.func) == "gather"
            and parts.in_update(source, node)
            and not parts.unrecorded(source, node)
        ):
            values = source.of(call.func.value)
            width = ", keepdim=True" if call is node.value else ""
            text = f"{values}.argmax(1{width}).float().requires_grad_()"
            yield fault(source.replace(node.value, text))


@operator("fake-root", "fake-root", "detached", frameworks=TORCH)
def fake_root(source: Source) -> Iterator[Fault]:
    """A cut, and ``loss.requires_grad = True`` against the error that it gives."""
    for loss, prediction in predictions(source):
        statement = source.statement(loss)
        if isinstance(statement, ast.Assign) and last(statement.targets[0]).endswith("loss"):
            cut = source.replace(prediction, parts.cut(source, source.of(prediction)))
            name = source.of(statement.targets[0])
            yield fault(cut, source.after(statement, f"{name}.requires_grad = True"))
