"""entropy-sign: the entropy bonus has the sign of a penalty."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="entropy-sign",
    family="wrong",
    summary="the entropy bonus has the sign of a penalty: the policy is paid for being certain",
    what="Optimizers descend. An entropy that is added to the loss is made smaller, and a log-probability of "
    "the policy's own sample that is taken away from it (SAC) is made larger: both push the policy towards a "
    "single action.",
    why="Exploration dies early: the entropy falls to zero while the loss looks normal, and the policy keeps "
    "whatever it tried first.",
    bad="""\
dist = Categorical(logits=policy(state))
policy_loss = -(dist.log_prob(action) * returns).mean()
loss = policy_loss + 0.01 * dist.entropy().mean()""",
    good="""\
dist = Categorical(logits=policy(state))
policy_loss = -(dist.log_prob(action) * returns).mean()
loss = policy_loss - 0.01 * dist.entropy().mean()""",
    use_instead="`policy_loss - coefficient * entropy`; in SAC `(alpha * log_prob - q).mean()`, where the "
    "minus of the entropy is in the log-probability already.",
    avoid="A negative coefficient to make up for it: the next reader turns it round again.",
    site="the loss",
    bad_tensorflow="""\
probs, log_probs = tf.nn.softmax(logits), tf.nn.log_softmax(logits)
entropy = -tf.reduce_sum(probs * log_probs, axis=-1)
loss = policy_loss + 0.01 * tf.reduce_mean(entropy)""",
    good_tensorflow="""\
probs, log_probs = tf.nn.softmax(logits), tf.nn.log_softmax(logits)
entropy = -tf.reduce_sum(probs * log_probs, axis=-1)
loss = policy_loss - 0.01 * tf.reduce_mean(entropy)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropySign(Cause):
    """The entropy of a policy is made smaller."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    sampled: bool = False  # it is the log-probability of the policy's own sample, as in SAC
    target: bool = False  # it stands in the bootstrap target, beside the value of the next state


def phrase(cause: EntropySign) -> Finding:
    """Put an entropy with the wrong sign into words."""
    who = words.who(cause)
    if cause.target:
        return words.say(
            cause,
            title=f"{who.does('learns', 'learn')} that certainty is worth something: the log-probability is "
            "added to the target",
            why="A log-probability is the negative of an entropy. Added to the value of the next state, it "
            "rewards states in which the policy is certain, while the policy's own loss does the opposite.",
            fix="write `q_next - alpha * log_prob` for the soft value of the next state",
        )
    if cause.sampled:
        return words.say(
            cause,
            title=f"the loss makes {who} more certain: the log-probability of its own sample has a minus",
            why="A log-probability is the negative of an entropy. With a minus in front the optimizer makes "
            f"the actions that {who} draws ever more likely, whatever they are worth.",
            fix="write `(alpha * log_prob - q).mean()`: the log-probability is added, the value taken away",
        )
    return words.say(
        cause,
        title=f"the loss makes {who} more certain: the entropy is added to it, and so made smaller",
        why="Optimizers descend, so an entropy that stands in the loss with a plus falls to zero: the bonus "
        "for exploring is a penalty.",
        fix="take it away from the loss: `policy_loss - coefficient * entropy`",
        avoid="a coefficient of 0: the policy then explores as little as it likes",
    )


RULE = Rule(PAGE, phrase, EntropySign)
