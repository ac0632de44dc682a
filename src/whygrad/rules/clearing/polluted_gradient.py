"""polluted-gradient: one loss leaves gradients that the step of another one applies."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
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
    site="the `backward`, or the call on the tape, that leaks; or where the optimizer that holds too much is "
    "made",
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
    bad_jax="""\
def loss_fn(params):
    actor_loss = -critic(params["critic"], obs, actor(params["actor"], obs)).mean()
    return critic_loss(params["critic"]) + actor_loss  # one gradient for both""",
    good_jax="""\
def loss_fn(params):
    fixed = jax.lax.stop_gradient(params["critic"])
    actor_loss = -critic(fixed, obs, actor(params["actor"], obs)).mean()
    return critic_loss(params["critic"]) + actor_loss""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollutedGradient(Cause):
    """A loss that was made for another network moves this one, too."""

    rule: ClassVar[str] = PAGE.slug
    own: Site | None = None  # the call that differentiates its own loss
    together: bool = False  # it is the very call that leaks
    asked: bool = False  # the leaking call was given a list to differentiate by, and this network is on it
    held: bool = (
        False  # the optimizer of the leaking loss has this network in its list, and so has another one
    )
    temperature: str = ""  # the parameter that the loss was made for: the network only stands beside it


def phrase(cause: PollutedGradient) -> Finding:
    """Put gradients that end up in the wrong step into words."""
    if cause.temperature:
        return _beside(cause)
    if cause.held:
        return _held(cause)
    if cause.asked:
        return _asked(cause)
    return _together(cause) if cause.together else _left(cause)


def _beside(cause: PollutedGradient) -> Finding:
    who, here = words.who(cause), cause.dialect
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} trained by the loss of {cause.temperature}",
        why=f"This loss is made to move {cause.temperature}. It is differentiated through the "
        f"log-probability as well, and {_step(cause)} applies that: it pushes {who} away from the "
        f"entropy that {cause.temperature} should hold {who.it} at.",
        fix=f"cut the log-probability off in this loss: `{here.stopped('log_prob + target_entropy')}`",
    )


def _asked(cause: PollutedGradient) -> Finding:
    who, here = words.who(cause), cause.dialect
    apart = " and differentiate the two losses apart" if cause.together else ""
    return words.say(
        cause,
        title=_pleasing(who),
        why=f"`{here.ask}` is asked for the {here.parameters} of {who} as well, and the step applies what it "
        f"gives: {who.does('is', 'are')} moved to make a loss small that should only train what stands "
        f"before {who.it}.",
        fix=f"ask `{here.ask}`, for this loss, only for the {here.parameters} of the network that it should "
        f"train{apart}",
        avoid=_no_stop(cause),
    )


def _held(cause: PollutedGradient) -> Finding:
    who, here = words.who(cause), cause.dialect
    return words.say(
        cause,
        title=_pleasing(who),
        why=f"{cause.optimizer or 'The optimizer'} holds the {here.parameters} of {who} beside those that "
        f"its loss is made for, so each of its steps moves {who} to make that loss small. A loss and an "
        f"optimizer of {who.their} own are there{words.near(cause.own, cause.site)}.",
        fix=f"give {cause.optimizer or 'it'} only the {here.parameters} that its loss should train",
        avoid=_no_stop(cause),
    )


def _together(cause: PollutedGradient) -> Finding:
    who, here = words.who(cause), cause.dialect
    return words.say(
        cause,
        title=_pleasing(who),
        why=f"One `{here.differentiate}` differentiates both losses, so the objective of the other network "
        f"also moves {who}, which should only follow {who.their} own targets; {_step(cause)} applies both.",
        fix=f"differentiate the losses apart, with an optimizer each, and clear the gradients of {who} "
        f"before {who.their} own `{here.differentiate}`",
        avoid=_no_stop(cause),
    )


def _left(cause: PollutedGradient) -> Finding:
    who, here = words.who(cause), cause.dialect
    own = f"`{here.differentiate}`{words.near(cause.own, cause.site)}"
    clear = f"{cause.optimizer}.zero_grad()" if cause.optimizer else "zero_grad()"
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} trained by another network's loss: its gradients are left in "
        f"{who.it}",
        why=f"This `{here.differentiate}` also writes gradients into {who}; nothing clears them before the "
        f"{own} of {who.their} own loss, and {_step(cause)} applies the sum.",
        fix=f"call `{clear}` right before the {own}",
        avoid=_no_stop(cause),
    )


def _pleasing(who: words.Who) -> str:
    return f"{who.does('is', 'are')} trained to please another network's loss"


def _step(cause: PollutedGradient) -> str:
    return f"`{cause.optimizer}.{cause.dialect.step}`" if cause.optimizer else "its optimizer's step"


def _no_stop(cause: PollutedGradient) -> str:
    stop = cause.dialect.stop
    return f"`{stop}` on the value of {words.who(cause)}: the other network would stop learning"


RULE = Rule(PAGE, phrase, PollutedGradient)
