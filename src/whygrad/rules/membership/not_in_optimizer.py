"""not-in-optimizer: gets a gradient, but no optimizer holds it."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="not-in-optimizer",
    family="missing",
    summary="gets a gradient, but no optimizer holds it",
    what="`backward` leaves a gradient in the parameter, and no optimizer holds the parameter. In "
    "TensorFlow: the loss depends on the variable, and it is not in the list for `tape.gradient` and "
    "`apply_gradients`.",
    why="Nobody applies the gradient and nobody clears it: the part keeps its random start while everything "
    "around it learns. A shared encoder is forgotten most often, or a temperature, or a `log_std`.",
    bad="""\
features = encoder(state)
loss = policy_loss(actor(features)) + value_loss(critic(features))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-4)""",
    good="""\
features = encoder(state)
loss = policy_loss(actor(features)) + value_loss(critic(features))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam([*critic.parameters(), *encoder.parameters()], lr=3e-4)""",
    use_instead="Give each part that should learn to exactly one optimizer: "
    "`[*critic.parameters(), *encoder.parameters()]`, or `optimizer.add_param_group(...)`. A part that "
    "should stay as it is: `part.requires_grad_(False)`. In TensorFlow: one list, "
    "`critic.trainable_variables + encoder.trainable_variables`, for both calls.",
    site="where the optimizer was made",
    bad_tensorflow="""\
variables = head.trainable_variables
with tf.GradientTape() as tape:
    loss = loss_fn(target, head(trunk(state)))
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
    good_tensorflow="""\
variables = head.trainable_variables + trunk.trainable_variables
with tf.GradientTape() as tape:
    loss = loss_fn(target, head(trunk(state)))
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotInOptimizer(Cause):
    """Nobody applies its gradient, or nobody asks for it."""

    rule: ClassVar[str] = PAGE.slug
    optimizers: tuple[str, ...] = ()  # those that exist
    holds: tuple[str, ...] = ()  # the networks that the nearest of them trains
    selective: bool = False  # gradients are asked for with a list, and it is not in there
    asked: Site | None = None  # where that list is
    thawed: bool = False  # it was frozen when the optimizer was made, and has been thawed since


def phrase(cause: NotInOptimizer) -> Finding:
    """Put a parameter that nobody steps into words."""
    if cause.selective:
        return _not_asked_for(cause)
    who, held = words.who(cause), cause.optimizers
    holding = (
        f"{words.listed(held)} {'hold' if len(held) > 1 else 'holds'} other {cause.dialect.parameters}: "
        if held
        else ""
    )
    new = cause.dialect.extended("...", *words.parts(cause, words.source(cause)))
    if cause.thawed:
        return words.say(
            cause,
            title=f"{who.does('was', 'were')} thawed in vain: no optimizer holds {who.it}",
            why=f"When {words.listed(held) if held else 'the optimizer'} was made, {who.does('was', 'were')} "
            "frozen and left out. Switching gradients on again computes them, and nobody applies them.",
            fix=f"give {who.it} to the optimizer as well, frozen or not, `{new}`; or call "
            "`add_param_group` when it is thawed",
        )
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} gradients, but no optimizer holds {who.it}",
        why=f"{holding}{'the' if holding else 'The'} gradients are computed, and nobody applies them.",
        fix=f"add {who.it} where the optimizer is made: `{new}`; {_on_purpose(cause)}",
    )


def _not_asked_for(cause: NotInOptimizer) -> Finding:
    who, here = words.who(cause), cause.dialect
    code = rewrite.uncommented(cause.asked.code) if cause.asked else ""
    asked = rewrite.arguments_of(code, here.ask.rpartition(".")[2])[1:2]
    only = (
        f"the {here.parameters} of {words.listed(cause.holds)}" if cause.holds else f"other {here.parameters}"
    )
    new = here.extended(asked[0] if asked else "...", *words.parts(cause, code))
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: not among the {here.parameters} that are asked "
        "for",
        why=f"The loss depends on {who}, but `{here.ask}`{words.near(cause.asked, cause.site)} is asked for "
        f"{only}, and nothing else is applied.",
        fix=f"ask for {who.it}, too: `{new}`, the same list for `{here.ask}` and `{here.step}`; "
        f"{_on_purpose(cause)}",
    )


def _on_purpose(cause: NotInOptimizer) -> str:
    return f"if {words.who(cause).they} should not learn, say so with `{cause.dialect.frozen}`"


RULE = Rule(PAGE, phrase, NotInOptimizer)
