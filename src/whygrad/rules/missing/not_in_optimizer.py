"""not-in-optimizer: gets a gradient, but no optimizer holds it.

Reads the details ``optimizers`` (the names of those that exist, separated by commas).
"""

from whygrad.model import Finding
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


def phrase(cause: Cause) -> Finding:
    """Put a parameter that nobody steps into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    who = words.who(cause)
    held = [name.strip() for name in cause.details.get("optimizers", "").split(",") if name.strip()]
    holding = (
        f"{words.listed(held)} {'hold' if len(held) > 1 else 'holds'} other parameters: " if held else ""
    )
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} gradients, but no optimizer holds {who.it}",
        why=f"{holding}{'the' if holding else 'The'} gradients are computed, and nobody applies them.",
        fix=f"add {who.it} where the optimizer is made: `[{_added(cause, who)}]`; if {who.they} should not "
        f"learn, say so with `requires_grad_(False)`",
    )


def _added(cause: Cause, who: words.Who) -> str:
    """The list to give to the optimizer; a lone parameter goes in as it is."""
    code = words.source(cause)
    alone = {p.name for p in cause.subjects}
    parts = [words.in_scope(name, code) for name in who.names]
    new = [
        part if name in alone else f"*{part}.parameters()"
        for part, name in zip(parts, who.names, strict=True)
    ]
    return ", ".join(["...", *new])


def _on_tensorflow(cause: Cause) -> Finding:
    who = words.who(cause)
    asking = next((s.site for s in cause.chain if s.site and ".gradient(" in s.site.code), None)
    code = rewrite.uncommented(asking.code) if asking else words.source(cause)
    asked = rewrite.arguments_of(code, "gradient")[1:2]
    others = [name for name in cause.details.get("holds", "").split(", ") if name]
    only = f"the variables of {words.listed(others)}" if others else "other variables"
    call = f"`tape.gradient`{words.at(str(asking.line) if asking else '')}"
    new = f"{asked[0] if asked else '...'} + {words.variables(cause, code)}"
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: not among the variables that are asked for",
        why=f"The loss depends on {who}, but {call} is asked for {only}, and nothing else is applied.",
        fix=f"ask for {who.it}, too: `{new}`, the same list for `tape.gradient` and `apply_gradients`; if "
        f"{who.they} should not learn, say so with `trainable = False`",
    )


RULE = Rule(PAGE, phrase)
