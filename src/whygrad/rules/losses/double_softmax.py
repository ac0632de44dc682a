"""double-softmax: probabilities are given where logits belong, or the reverse."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="double-softmax",
    family="wrong",
    summary="probabilities are given where logits belong, or logits where probabilities do",
    what="Something that applies a softmax of its own (`cross_entropy`, `log_softmax`, a distribution made "
    "of `logits`) is given what has been through a softmax already; or a logarithm, which is meant for "
    "probabilities, is given the raw outputs of a network.",
    why="A softmax of numbers between 0 and 1 is almost flat: with two actions no probability can leave 0.27 "
    "to 0.73, whatever the network learns, and its gradient is a fraction of what it should be. Training "
    "runs, slowly, and the policy never makes up its mind.",
    bad="""\
probs = torch.softmax(policy(state), dim=-1)
dist = Categorical(logits=probs)
loss = -(dist.log_prob(action) * returns).mean()""",
    good="""\
probs = torch.softmax(policy(state), dim=-1)
dist = Categorical(probs=probs)
loss = -(dist.log_prob(action) * returns).mean()""",
    use_instead="Let the network give logits, and apply the softmax once: `Categorical(logits=...)`, "
    "`cross_entropy`, `from_logits=True`. Where there are probabilities already, say so: "
    "`Categorical(probs=...)`, `nll_loss(torch.log(probs), ...)`.",
    site="that call",
    bad_tensorflow="""\
probs = tf.nn.softmax(policy(state))
nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=probs)
loss = tf.reduce_mean(nll * returns)""",
    good_tensorflow="""\
logits = policy(state)
nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
loss = tf.reduce_mean(nll * returns)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleSoftmax(Cause):
    """Probabilities where logits belong."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    squashed: str = "softmax"  # what made probabilities of it the first time
    logarithm: bool = False  # the call takes logarithms of probabilities, not logits
    raw: bool = False  # the reverse: logits where probabilities belong
    drawn: bool = False  # an action is drawn here; else it is scored


def phrase(cause: DoubleSoftmax) -> Finding:
    """Put a softmax too many, or one too few, into words."""
    if cause.raw:
        return _raw(cause)
    return _no_logarithm(cause) if cause.logarithm else _twice(cause)


def _twice(cause: DoubleSoftmax) -> Finding:
    first = next((step.site for step in cause.chain if step.site != cause.site), None)
    what = "draws from" if cause.drawn else "takes"
    return words.say(
        cause,
        title=f"this call {what} logits and is given probabilities: the {cause.squashed} is applied twice",
        why=f"What goes in has been through a {cause.squashed} already{words.near(first, cause.site)}; it "
        f"lies between 0 and 1, so the second {cause.squashed} is almost flat and {words.who(cause)} can "
        "hardly prefer one action to another.",
        fix="give it the raw outputs of the network, or say that these are probabilities",
        avoid="a larger learning rate: the limit stays",
    )


def _no_logarithm(cause: DoubleSoftmax) -> Finding:
    return words.say(
        cause,
        title="this call takes log-probabilities and is given probabilities: the logarithm is missing",
        why="Without the logarithm the loss is a sum of probabilities: its gradient vanishes for the very "
        f"actions that {words.who(cause)} should learn.",
        fix=f"use {words.code(cause.dialect.function('log_softmax'))} in place of the softmax",
    )


def _raw(cause: DoubleSoftmax) -> Finding:
    needed = "log_softmax" if cause.logarithm else "softmax"
    return words.say(
        cause,
        title="raw outputs of a network are taken for probabilities: a softmax is missing",
        why=f"Nothing between the last layer of {words.who(cause)} and this call makes probabilities of its "
        "outputs: they may be negative, and do not sum up to 1.",
        fix=f"say that they are logits, or put {words.code(cause.dialect.function(needed))} in front",
    )


RULE = Rule(PAGE, phrase, DoubleSoftmax)
