"""cancelled-gradient: two paths from the policy to the loss take each other away.

Reads the detail ``kind`` (``sample``, ``ratio``).
"""

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


def phrase(cause: Cause) -> Finding:
    """Put paths that cancel into words."""
    who = words.who(cause)
    if cause.details.get("kind") == "ratio":
        return words.say(
            cause,
            title=f"the ratio compares {who} with {who.it if who.several else 'itself'}: the gradient "
            f"cancels",
            why="Both sides of the ratio carry gradient to the same parameters, so what one gives the other "
            "takes "
            "away.",
            fix="stop the gradient of the old log-probability, or take it from the rollout: `ratio = "
            "tf.exp(new - tf.stop_gradient(old))`"
            if words.on_tensorflow(cause)
            else "detach the old log-probability, or take it from the rollout: `ratio = (new - "
            "old.detach()).exp()`",
        )
    return words.say(
        cause,
        title=f"the gradient of {who} cancels: the scored sample still hangs on the distribution",
        why="The log-probability is taken of a sample that moves with the mean, so the distance between the "
        "two "
        "never changes; what is left is zero up to rounding.",
        fix="score the action as data: `tf.stop_gradient(dist.sample())`; a reparameterised sample carries "
        "gradient under a tape"
        if words.on_tensorflow(cause)
        else "draw with `sample()` instead of `rsample()`, or score `action.detach()`",
    )


RULE = Rule(PAGE, phrase)
