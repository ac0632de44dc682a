"""not-in-optimizer: gets a gradient, but no optimizer holds it.

Reads the details ``optimizers`` (the names of those that exist, separated by commas).
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="not-in-optimizer",
    family="missing",
    summary="gets a gradient, but no optimizer holds it",
    what="`backward` leaves a gradient in the parameter, and no optimizer holds the parameter.",
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
    "should stay as it is: `part.requires_grad_(False)`.",
    site="where the optimizer was made",
)


def phrase(cause: Cause) -> Finding:
    """Put a parameter that nobody steps into words."""
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


RULE = Rule(PAGE, phrase)
