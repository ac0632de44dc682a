"""surrogate-missing: a policy loss without a log-probability in it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="surrogate-missing",
    family="wrong",
    summary="the loss is made of rewards, drawn actions or bare probabilities, with no log-probability in it",
    what="The loss is written as the quantity to be improved: the rewards of an episode, or a product with "
    "the "
    "actions that were drawn, or with their probabilities.",
    why="Neither rewards nor drawn actions are differentiable in the parameters of the policy. What carries "
    "the "
    "policy gradient is the log-probability of each action, weighed by the return.",
    bad="""\
dist = Categorical(logits=policy(state))
action = dist.sample()
loss = -(action.float() * returns).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
    good="""\
dist = Categorical(logits=policy(state))
action = dist.sample()
loss = -(dist.log_prob(action) * returns).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
    use_instead="`-(dist.log_prob(action) * returns).mean()`, the score-function surrogate.",
    avoid="`loss.requires_grad = True`: the error goes, the gradient does not come back.",
    site="the loss",
    bad_tensorflow="""\
logits = policy(state)
action = tf.squeeze(tf.random.categorical(logits, 1), 1)
loss = -tf.reduce_mean(tf.gather(rewards, action))""",
    good_tensorflow="""\
logits = policy(state)
action = tf.squeeze(tf.random.categorical(logits, 1), 1)
neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
loss = tf.reduce_mean(neg_log_prob * tf.gather(rewards, action))""",
)


class Made(StrEnum):
    """What the loss consists of instead."""

    REWARDS = "rewards"
    ACTIONS = "drawn actions"
    PROBABILITIES = "probabilities"  # without a logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateMissing(Cause):
    """A policy loss without a log-probability."""

    rule: ClassVar[str] = PAGE.slug
    made_of: Made | None = None


def phrase(cause: SurrogateMissing) -> Finding:
    """Put a policy loss without a log-probability into words."""
    if cause.made_of is Made.PROBABILITIES:
        return _logless(cause)
    made_of = cause.made_of or "rewards or drawn actions"
    return words.say(
        cause,
        title=_title(cause, made_of),
        why=f"{made_of.capitalize()} are not differentiable in the policy; the log-probability of the "
        "actions, weighed by the return, is what carries its gradient.",
        fix=f"write the loss as {cause.dialect.surrogate}",
        avoid=cause.dialect.hiding,
    )


def _logless(cause: SurrogateMissing) -> Finding:
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('learns', 'learn')} from probabilities: the logarithm is missing",
        why="The gradient of a probability is that of its logarithm times the probability itself: actions "
        "that are rare are hardly learnt about, those that are frequent twice.",
        fix=f"take the logarithm of the probability: {cause.dialect.surrogate}",
    )


def _title(cause: SurrogateMissing, made_of: str) -> str:
    without = f"made of {made_of}, without a log-probability"
    who = words.who(cause)
    if cause.masked:
        return f"{who.does('does', 'do')} not learn from this term: it is a constant, {without}"
    return f"{who.does('gets', 'get')} no gradient: the loss is {without}"


RULE = Rule(PAGE, phrase, SurrogateMissing)
