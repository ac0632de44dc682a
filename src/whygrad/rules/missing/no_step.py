"""no-step: gradients are computed and never applied.

Reads the details ``kind`` (``never-stepped``, ``lr-zero``).
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="no-step",
    family="missing",
    summary="gradients are computed and never applied: no `step()`, or a learning rate of 0",
    what="`backward` fills the gradients, and then no optimizer step uses them; or every step has learning "
    "rate 0.",
    why="The parameters keep their first values. Losses and gradient norms print as if all were well.",
    bad="""\
critic_loss = F.mse_loss(critic(state, action), target)
critic_opt.zero_grad()
critic_loss.backward()
actor_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()  # critic_opt.step() is missing""",
    good="""\
critic_loss = F.mse_loss(critic(state, action), target)
critic_opt.zero_grad()
critic_loss.backward()
critic_opt.step()
actor_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()""",
    use_instead="One `step()` of the right optimizer after each `backward()` (or after each accumulated "
    "group). With a scheduler, print `optimizer.param_groups[0]['lr']` once: a warm-up that starts at 0 and "
    "is never stepped stays at 0.",
    site="the last call that had the gradients",
)


def phrase(cause: Cause) -> Finding:
    """Put gradients that nobody applies into words."""
    who, optimizer = words.who(cause), cause.optimizer
    if cause.details.get("kind") == "lr-zero":
        return words.say(
            cause,
            title=f"{who.does('never changes', 'never change')}: the learning rate is 0",
            why=f"{optimizer or 'The optimizer'} multiplies every gradient by a learning rate of 0.",
            fix="give `lr` a value above 0; with a scheduler, check its first value and that "
            "`scheduler.step()` is called",
        )
    call = f"`{optimizer}.step()`" if optimizer else "the optimizer's `step()`"
    line = words.code(words.source(cause)) if words.source(cause) else "`backward()`"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} gradients that are never applied",
        why=f"{line} computes the gradients; no optimizer step follows before they are cleared, or at all.",
        fix=f"call {call} after {line}",
    )


RULE = Rule(PAGE, phrase)
