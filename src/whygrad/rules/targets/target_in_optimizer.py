"""target-in-optimizer: an optimizer holds the target network's parameters."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-in-optimizer",
    family="wrong",
    summary="an optimizer holds the target network's parameters",
    what="The parameters of a network that follows another one by copies are in an optimizer, too.",
    why="Where a gradient reaches them, the target learns by itself between the syncs. Where none does, the "
    "step "
    "passes them by, and only a missing `detach` is needed to change that.",
    bad="""\
target_net = copy.deepcopy(q_net)
parameters = [*q_net.parameters(), *target_net.parameters()]
optimizer = torch.optim.AdamW(parameters)""",
    good="""\
target_net = copy.deepcopy(q_net)
parameters = [*q_net.parameters()]
optimizer = torch.optim.AdamW(parameters)""",
    use_instead="Give the optimizer the online network only.",
    site="where the optimizer is made; in TensorFlow the call that applies the gradients",
    bad_tensorflow="""\
variables = q_net.trainable_variables + target_net.trainable_variables
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
    good_tensorflow="""\
variables = q_net.trainable_variables
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetInOptimizer(Cause):
    """A target network is among what an optimizer is given."""

    rule: ClassVar[str] = PAGE.slug
    harmless: bool = False  # no gradient has ever reached it


def phrase(cause: TargetInOptimizer) -> Finding:
    """Put a target network in an optimizer into words."""
    return _untouched(cause) if cause.harmless else _trained(cause)


def _untouched(cause: TargetInOptimizer) -> Finding:
    who, optimizer = words.who(cause), _optimizer(cause)
    return words.say(
        cause,
        title=f"{optimizer} is given {who}, a target network that gets no gradient",
        why="A step passes by what has no gradient, so nothing is learnt wrongly; a single missing "
        f"`{cause.dialect.stop}` would let {optimizer} train {who}.",
        fix=_fix(cause),
    )


def _trained(cause: TargetInOptimizer) -> Finding:
    who, optimizer = words.who(cause), _optimizer(cause)
    return words.say(
        cause,
        title=f"{optimizer} trains {who}, a target network",
        why=f"{who.does('follows', 'follow')} another network by copies and must not be trained; "
        f"{optimizer} steps on {who.it}, too.",
        fix=_fix(cause),
    )


def _optimizer(cause: TargetInOptimizer) -> str:
    return cause.optimizer or "the optimizer"


def _fix(cause: TargetInOptimizer) -> str:
    given = f"the {cause.dialect.parameters} that {_optimizer(cause)} is given"
    return f"leave {words.who(cause)} out of {given}"


RULE = Rule(PAGE, phrase, TargetInOptimizer)
