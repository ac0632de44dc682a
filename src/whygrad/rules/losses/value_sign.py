"""value-sign: the loss makes the policy worse."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="value-sign",
    family="wrong",
    summary="the loss makes the policy worse: a minus is missing",
    what="Optimizers descend. Here the loss is the objective itself, `log_prob * advantage` or the value "
    "of the actor's action, with a plus in front.",
    why="Each step makes good actions less likely. Training looks normal and the return falls.",
    bad="""\
actor_loss = critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()""",
    good="""\
actor_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()""",
    use_instead="A minus in front of what is to grow; or an optimizer with `maximize=True`. If the value is "
    "a "
    "cost, all is well.",
    site="the loss",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    actor_loss = tf.reduce_mean(critic([state, actor(state)]))""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    actor_loss = -tf.reduce_mean(critic([state, actor(state)]))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSign(Cause):
    """The objective itself is minimised."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    other_draw: bool = False  # it scores actions that were drawn anew, and that nobody has taken


def phrase(cause: ValueSign) -> Finding:
    """Put a missing minus into words."""
    if cause.other_draw:
        return _other_draw(cause)
    who, code = words.who(cause), words.source(cause)
    line = words.code(code, 60) if code else "The loss"
    return words.say(
        cause,
        title=f"{who.does('descends', 'descend')} on {who.their} own objective: a minus is missing",
        why=f"{line} grows when the policy gets better, and the optimizer makes it smaller. (If it is a "
        "cost, all is well.)",
        fix="put a minus in front of it",
    )


def _other_draw(cause: ValueSign) -> Finding:
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} paid for actions that nobody took: the scored ones are drawn anew",
        why="The log-probability is that of a fresh sample, which goes nowhere else; the returns belong to "
        "other actions. What is learnt from their product is noise.",
        fix="take the log-probability of the actions that were taken: keep them in the rollout",
    )


RULE = Rule(PAGE, phrase, ValueSign)
