"""self-target: a prediction is compared with itself."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="self-target",
    family="wrong",
    summary="the target of a regression is the prediction itself, so there is nothing to learn",
    what="The target is computed by the same network from the same states, with nothing added to it, or it "
    "is a copy of the prediction.",
    why="The difference is zero up to rounding, and so is the gradient. The loss is zero from the first "
    "update on, which looks like a network that has learnt everything.",
    bad="""\
q = q_net(state).gather(1, action).squeeze(1)
target = q.detach()
loss = F.mse_loss(q, target)""",
    good="""\
q = q_net(state).gather(1, action).squeeze(1)
target = reward + gamma * (1 - done) * next_q.detach()
loss = F.mse_loss(q, target)""",
    use_instead="Build the target from what was paid and from the value of the next state: "
    "`reward + gamma * (1 - done) * target_net(next_state).max(1).values`.",
    avoid="Leaving the target differentiable: two zeros make no gradient.",
    site="where the target is computed",
    bad_tensorflow="""\
q = tf.gather(q_net(state), action, axis=1, batch_dims=1)
target = tf.stop_gradient(q)
loss = tf.reduce_mean((q - target) ** 2)""",
    good_tensorflow="""\
q = tf.gather(q_net(state), action, axis=1, batch_dims=1)
target = tf.stop_gradient(reward + gamma * (1.0 - done) * next_q)
loss = tf.reduce_mean((q - target) ** 2)""",
    bad_jax="""\
target = network.apply(params, obs)
target.at[rows, action].set(reward + 0.99 * following)  # returns a new array
loss = jnp.square(network.apply(params, obs) - target).mean()""",
    good_jax="""\
target = network.apply(params, obs)
target = target.at[rows, action].set(reward + 0.99 * following)
loss = jnp.square(network.apply(params, obs) - target).mean()""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTarget(Cause):
    """A prediction and its target are one."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    again: bool = False  # the network was asked a second time, about the same


def phrase(cause: SelfTarget) -> Finding:
    """Put a prediction that is its own target into words."""
    who = words.who(cause)
    how = (
        f"The target is what {who} gave for the same states a second time, with nothing added"
        if cause.again
        else "The target is a copy of the prediction"
    )
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} compared with {who.it}self: the target is the prediction",
        why=f"{how}, so the difference{words.near(cause.loss, cause.site)} is zero, and its gradient "
        "as well.",
        fix="add what the prediction is to learn: the reward, and the discounted value of the next state",
        avoid="letting gradient through the target: it is zero from there, too",
    )


RULE = Rule(PAGE, phrase, SelfTarget)
