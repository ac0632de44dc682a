"""polluted-gradient: one loss leaves gradients that the step of another one applies.

Reads the details ``other``, ``own``, ``own_line`` and ``together``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="polluted-gradient",
    family="wrong",
    summary="one loss leaves gradients in a network that another optimizer then applies",
    what="The actor's loss goes through the critic, so its `backward` writes gradients into the critic as "
    "well. Nothing clears them before the critic's own step.",
    why="The critic is moved to please the actor: its values rise without any reward. The actor then "
    "climbs a hill that it has made itself.",
    bad="""\
critic_loss.backward()
critic_opt.step()
critic_opt.zero_grad()
actor_loss = -critic(state, actor(state)).mean()
actor_loss.backward()  # writes into the critic, too
actor_opt.step()
actor_opt.zero_grad()""",
    good="""\
critic_opt.zero_grad()
critic_loss.backward()
critic_opt.step()
actor_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()""",
    use_instead="Clear right before each `backward`, not after the step; or freeze the critic for the time "
    "of the "
    "actor loss, `critic.requires_grad_(False)`.",
    avoid="`.detach()` on the critic's value: it keeps the critic clean and ends the actor's learning.",
    site="the `backward`, or the call on the tape, that leaks",
    bad_tensorflow="""\
variables = actor.trainable_variables + critic.trainable_variables
with tf.GradientTape() as tape:
    actor_loss = -tf.reduce_mean(critic([state, actor(state)]))
grads = tape.gradient(actor_loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
    good_tensorflow="""\
variables = actor.trainable_variables
with tf.GradientTape() as tape:
    actor_loss = -tf.reduce_mean(critic([state, actor(state)]))
grads = tape.gradient(actor_loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
)


def phrase(cause: Cause) -> Finding:
    """Put gradients that end up in the wrong step into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    who, details = words.who(cause), cause.details
    line = words.at(details.get("own_line", ""))
    step = f"`{cause.optimizer}.step()`" if cause.optimizer else "its optimizer's step"
    if details.get("together"):
        return words.say(
            cause,
            title=f"{who.does('is', 'are')} trained to please another network's loss",
            why=f"One `backward` differentiates both losses, so the objective of the other network also "
            f"moves {who}, "
            f"which should only follow its own targets; {step} applies both.",
            fix=f"differentiate the losses apart, with an optimizer each, and clear the gradients of {who} "
            f"before "
            "its own `backward`",
            avoid="`.detach()` on its value: the other network would stop to learn",
        )
    clear = f"`{cause.optimizer}.zero_grad()`" if cause.optimizer else "`zero_grad()`"
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} trained by another network's loss: its gradients are left in "
        f"{who.it}",
        why=f"This `backward` also writes gradients into {who}; nothing clears them before the "
        f"`backward`{line} of "
        f"{'their' if who.several else 'its'} own loss, and {step} applies the sum.",
        fix=f"call {clear} right before the `backward`{line}",
        avoid=f"`.detach()` on the value of {who}: the other network would stop to learn",
    )


def _on_tensorflow(cause: Cause) -> Finding:
    who = words.who(cause)
    together = " and differentiate the two losses apart" if cause.details.get("together") else ""
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} trained to please another network's loss",
        why=f"The tape is asked for the variables of {who} as well, and the step applies what it gives: "
        f"{who} {'are' if who.several else 'is'} moved to make a loss small that should only train what "
        f"stands before {who.it}.",
        fix="ask the tape, for this loss, only for the variables of the network that it should train"
        f"{together}",
        avoid=f"`tf.stop_gradient` on the value of {who}: the other network would stop to learn",
    )


RULE = Rule(PAGE, phrase)
