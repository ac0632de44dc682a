"""Networks and what trains them: starts, outputs, schedules, frozen critics, actors that step their critics."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.operators.extents import loss_lines
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

TORCH = ("torch",)


def judges(source: Source) -> Iterator[tuple[ast.Assign, str]]:
    """How the policy's action is made, and the critic that is asked about it."""
    nets = parts.networks(source)
    for node, used in parts.policy_actions(source):
        asked = (a for a in source.around(used) if isinstance(a, ast.Call))
        critic = next((source.of(a.func) for a in asked if source.of(a.func) in nets), None)
        if critic:
            yield node, critic


def actions_judged(source: Source) -> list[list[ast.Name]]:
    """For each action of the policy: all places where critics are asked about it."""
    found: dict[ast.Assign, list[ast.Name]] = {}
    for node, used in parts.policy_actions(source):
        found.setdefault(node, []).append(used)
    return list(found.values())


@operator("actor-steps-critic", "polluted-gradient", "wrong-variables")
def actor_steps_critic(source: Source) -> Iterator[Fault]:
    """The actor's optimizer holds the critic, too: the actor's loss makes the critic praise everything."""
    for node, critic in judges(source):
        actor = source.of(node.value.func).removesuffix(".sample")
        losses = list(parts.policy_losses(source))
        names = {source.of(loss.targets[0]) for loss in losses}
        walked = [c for c in source.calls("backward") if source.of(c.func.value) in names]
        also = source.lines(*losses, *walked)
        if source.framework == "torch":
            made = parts.networks(source)[critic][0]
            for statement, call in parts.optimizers(source).values():
                held = source.of(call.args[0]) if call.args else ""
                if held == f"{actor}.parameters()" and made.lineno < statement.lineno:
                    both = f"list({held}) + list({critic}.parameters())"
                    yield fault(source.replace(call.args[0], both), also=also)
        else:
            asked = [n for n in source.each(ast.Attribute) if source.of(n) == f"{actor}.trainable_variables"]
            yield fault(*(source.wrap(n, "", f" + {critic}.trainable_variables") for n in asked), also=also)


@operator("freeze-left-on", "frozen")
def freeze_left_on(source: Source) -> Iterator[Fault]:
    """The critic is frozen for the actor's update, and never released."""
    for node, critic in judges(source):
        if source.framework == "torch":
            text = f"for p in {critic}.parameters():\n    p.requires_grad = False"
            yield fault(source.before(node, text))
        else:
            block = next((a for a in source.around(node) if isinstance(a, ast.With)), node)
            yield fault(source.before(block, f"{critic}.trainable = False"))


@operator("schedule-of-epochs", "stalled", "no-step")
def schedule_of_epochs(source: Source) -> Iterator[Fault]:
    """A schedule that was meant for epochs is stepped with each update: soon nothing moves."""
    if "param_groups" in source.text:
        return  # it sets its rate itself
    for name, (statement, call) in parts.optimizers(source).items():
        stepped = [s for s in parts.steps(source) if source.of(s.value.func.value) == name]
        if source.framework == "torch":
            schedule = "self.scheduler" if name.startswith("self.") else "scheduler"
            made = f"{schedule} = torch.optim.lr_scheduler.StepLR({name}, step_size=10, gamma=0.1)"
            edits = [source.after(s, f"{schedule}.step()") for s in stepped]
            if edits:
                yield fault(source.after(statement, made), *edits, also=source.lines(statement, *stepped))
        else:
            named = [k.value for k in call.keywords if k.arg == "learning_rate"]
            for rate in (named or call.args)[:1]:
                text = (
                    f"keras.optimizers.schedules.ExponentialDecay({source.of(rate)}, 10, 0.1, staircase=True)"
                )
                yield fault(source.replace(rate, text), also=source.lines(*stepped))


@operator("zero-initialised", "zero-gradient", "vanishing")
def zero_initialised(source: Source) -> Iterator[Fault]:
    """All weights begin with zero: nothing but the last bias ever gets a gradient."""
    also = source.lines(*parts.forwards(source))
    if source.framework == "torch":
        for name, (statement, _) in parts.networks(source).items():
            if not parts.is_target(name):
                text = f"for p in {name}.parameters():\n    torch.nn.init.zeros_(p)"
                yield fault(source.after(statement, text), also=also | source.lines(statement))
        return
    edits = [
        source.replace(call, f'{source.of(call)[:-1]}, kernel_initializer="zeros")')
        for call in source.calls("Dense")
    ]
    if edits:
        yield fault(*edits, also=also)


@operator("relu-on-output", "zero-gradient", "vanishing")
def relu_on_output(source: Source) -> Iterator[Fault]:
    """A critic of continuous actions, where rewards are costs, ends with a ReLU."""
    for forward in parts.forwards(source):
        if not re.search(r"\b(cat|concat)\(\[", source.of(forward)):
            continue
        if source.framework == "torch":
            for node in source.each(ast.Return, within=forward):
                ends = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                edits = [source.wrap(end, "torch.relu(", ")") for end in ends]
                yield fault(*edits, also=source.lines(forward))
        else:
            for call in source.calls("Dense", within=source.parents_class(forward)):
                if source.of(call).endswith("Dense(1)"):
                    text = f'{source.of(call)[:-1]}, activation="relu")'
                    yield fault(source.replace(call, text), also=source.lines(forward))


@operator("column-too-many", "broadcast-loss")
def column_too_many(source: Source) -> Iterator[Fault]:
    """Rewards, ends or returns are columns where everything else is a row."""
    for name, node in source.assigns():
        made = isinstance(node.value, ast.Call) and last(node.value.func)
        if re.fullmatch(r"rewards?|dones?|returns|targets", name) and made in (
            "FloatTensor",
            "tensor",
            "constant",
            "as_tensor",
        ):
            column = ".unsqueeze(1)" if source.framework == "torch" else "[:, None]"
            here = source.lines(source.function(node))
            yield fault(source.wrap(node.value, "", column), also=loss_lines(source) & here)


@operator("dueling-mean-of-all", "wrong-axis")
def dueling_mean(source: Source) -> Iterator[Fault]:
    """A dueling network takes away the mean advantage of the whole batch, not of each row."""
    for forward in parts.forwards(source):
        for call in source.calls("mean|reduce_mean", within=forward):
            if any(k.arg in ("keepdim", "keepdims") for k in call.keywords):
                given = source.of(call.args[0]) if source.framework == "tensorflow" else ""
                yield fault(source.replace(call, f"{source.of(call.func)}({given})"))


@operator("rollout-under-no-grad", "no-grad-block", frameworks=TORCH)
def rollout_under_no_grad(source: Source) -> Iterator[Fault]:
    """The network plays under ``no_grad``, and its log-probabilities are kept for the loss."""
    for call in source.calls("append"):
        if not (call.args and "log_prob(" in source.of(call.args[0])):
            continue
        block = source.block(source.statement(call))
        asked = [s for s in block if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
        for statement in asked[:1]:
            also = source.lines(*parts.forwards(source))
            yield fault(source.wrap(statement, "with torch.no_grad(): ", ""), also=also)


@operator("copied-action", "numpy-round-trip", "detached", frameworks=TORCH)
def copied_action(source: Source) -> Iterator[Fault]:
    """``torch.tensor`` around the policy's action: a copy without a history."""
    for uses in actions_judged(source):
        yield fault(*(source.wrap(used, "torch.tensor(", ")") for used in uses))
