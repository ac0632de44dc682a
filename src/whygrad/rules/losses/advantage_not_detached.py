"""advantage-not-detached: the policy loss differentiates through the value network."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="advantage-not-detached",
    family="wrong",
    summary="the policy loss differentiates through the advantage, into the value network",
    what="The advantage that weighs a log-probability carries gradient, and a step applies what it leaves "
    "in the value network.",
    why="The value network is moved to make the policy loss small, which it can do by predicting "
    "nonsense, instead of predicting returns.",
    bad="""\
advantage = returns - critic(state).squeeze(-1)
policy_loss = -(dist.log_prob(action) * advantage).mean()
value_loss = advantage.pow(2).mean()
(policy_loss + 0.5 * value_loss).backward()""",
    good="""\
advantage = returns - critic(state).squeeze(-1)
policy_loss = -(dist.log_prob(action) * advantage.detach()).mean()
value_loss = advantage.pow(2).mean()
(policy_loss + 0.5 * value_loss).backward()""",
    use_instead="Detach the advantage in the policy loss, and only there.",
    avoid="Detaching the value everywhere: the value loss needs it.",
    site="where the advantage is computed",
    bad_tensorflow="""\
advantage = returns - tf.squeeze(critic(state), -1)
policy_loss = -tf.reduce_mean(dist.log_prob(action) * advantage)
value_loss = tf.reduce_mean(advantage**2)""",
    good_tensorflow="""\
advantage = returns - tf.squeeze(critic(state), -1)
policy_loss = -tf.reduce_mean(dist.log_prob(action) * tf.stop_gradient(advantage))
value_loss = tf.reduce_mean(advantage**2)""",
    bad_jax="""\
def loss_fn(params):
    value = critic(params, obs)
    advantage = returns - value
    return jnp.square(value - returns).mean() - (log_prob(params, obs, action) * advantage).mean()""",
    good_jax="""\
def loss_fn(params):
    value = critic(params, obs)
    advantage = jax.lax.stop_gradient(returns - value)
    return jnp.square(value - returns).mean() - (log_prob(params, obs, action) * advantage).mean()""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvantageNotDetached(Cause):
    """The advantage in the policy loss, which is the cause's loss, carries gradient."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True


def phrase(cause: AdvantageNotDetached) -> Finding:
    """Put an advantage that carries gradient into words."""
    who, line = words.who(cause), words.near(cause.loss, cause.site)
    name = rewrite.assigned(words.source(cause)) or "advantage"
    return words.say(
        cause,
        title=f"the policy loss trains {who}: the advantage carries gradient",
        why=f"The advantage weighs the log-probability in the policy loss{line}; it carries gradient, so "
        f"{who.does('is', 'are')} moved to make that loss small.",
        fix=f"use `{cause.dialect.stopped(name)}` in the policy loss{line}",
        avoid="stopping the gradient of the value in the value loss as well: then nothing trains it",
    )


RULE = Rule(PAGE, phrase, AdvantageNotDetached)
