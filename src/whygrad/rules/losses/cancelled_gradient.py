"""cancelled-gradient: two paths from the policy to the loss take each other away."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="cancelled-gradient",
    family="wrong",
    summary="two paths cancel: the log-probability of an undetached `rsample()`, the ratio of a policy with "
    "itself",
    what="A policy-gradient loss scores a sample that still hangs on the policy (`rsample()`, not "
    "detached); or a ratio has the same living policy above and below the line.",
    why="Moving the mean moves the sample with it: the distance between the two, and with it the "
    "log-probability, stays the same. The gradient is zero up to rounding. A ratio of a policy with "
    "itself is 1, whatever the policy does.",
    bad="""\
action = dist.rsample()
log_prob = dist.log_prob(action).sum(-1)
loss = -(log_prob * returns).mean()""",
    good="""\
action = dist.sample()
log_prob = dist.log_prob(action).sum(-1)
loss = -(log_prob * returns).mean()""",
    use_instead="Score samples with `sample()` or `.detach()`; keep the old log-probability of a ratio "
    "detached.",
    site="where they meet",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    action = dist.sample()  # Normal in tensorflow_probability: reparameterised
    loss = -tf.reduce_mean(dist.log_prob(action) * returns)""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    action = tf.stop_gradient(dist.sample())
    loss = -tf.reduce_mean(dist.log_prob(action) * returns)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledGradient(Cause):
    """Two ways of the gradient take each other away."""

    rule: ClassVar[str] = PAGE.slug
    ratio: bool = False  # of a policy with itself; else it is a sample that hangs on what scores it


def phrase(cause: CancelledGradient) -> Finding:
    """Put paths that cancel into words."""
    return _with_itself(cause) if cause.ratio else _of_its_own_sample(cause)


def _with_itself(cause: CancelledGradient) -> Finding:
    who = words.who(cause)
    return words.say(
        cause,
        title=f"the ratio compares {who} with {'themselves' if who.several else 'itself'}: the gradient "
        "cancels",
        why="Both sides of the ratio carry gradient to the same parameters, so what one gives the other "
        "takes away.",
        fix=f"stop the gradient of the old log-probability, `{cause.dialect.stopped('old')}`, or take it "
        "from the rollout",
    )


def _of_its_own_sample(cause: CancelledGradient) -> Finding:
    who, here = words.who(cause), cause.dialect
    return words.say(
        cause,
        title=f"the gradient of {who} cancels: the scored sample still hangs on the distribution",
        why="The log-probability is taken of a reparameterised sample, which moves with the mean, so the "
        "distance between the two never changes; what is left is zero up to rounding.",
        fix=f"draw with {here.drawn}, or score `{here.stopped('action')}`",
    )


RULE = Rule(PAGE, phrase, CancelledGradient)
