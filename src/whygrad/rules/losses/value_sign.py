"""value-sign: the loss makes the policy worse."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="value-sign",
    family="wrong",
    summary="the loss makes the policy worse, or a prediction: a minus is missing, or is one too many",
    what="Optimizers descend. Here the loss is the objective itself, `log_prob * advantage` or the value "
    "of the actor's action, with a plus in front. Or the minus is there, and the ratio behind it is old over "
    "new, the advantage is value minus return. Or the error of a prediction is subtracted.",
    why="Each step makes good actions less likely. Training looks normal and the return falls. An error that "
    "is subtracted grows without bound.",
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
    turned: Literal["", "ratio", "advantage", "clip"] = (
        ""  # what is the wrong way round, where the minus is there
    )
    regression: bool = False  # not an objective: the error of a prediction, and it is made larger
    other_draw: bool = False  # it scores actions that were drawn anew, and that nobody has taken


def phrase(cause: ValueSign) -> Finding:
    """Put a missing minus into words."""
    if cause.other_draw:
        return _other_draw(cause)
    if cause.regression:
        return _error_grows(cause)
    if cause.turned:
        return _turned(cause)
    who, code = words.who(cause), words.source(cause)
    line = words.code(code, 60) if code else "The loss"
    return words.say(
        cause,
        title=f"{who.does('descends', 'descend')} on {who.their} own objective: a minus is missing",
        why=f"{line} grows when the policy gets better, and the optimizer makes it smaller. (If it is a "
        "cost, all is well.)",
        fix=_where(code),
    )


def _error_grows(cause: ValueSign) -> Finding:
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} trained to be wrong: the error enters the loss with a minus",
        why="The optimizer makes the loss smaller, and so the distance between prediction and target larger. "
        "It grows without bound.",
        fix="add the error, do not subtract it: only what is to grow, such as an entropy, has a minus",
    )


def _turned(cause: ValueSign) -> Finding:
    who = words.who(cause)
    if cause.turned == "clip":
        return words.say(
            cause,
            title=f"nothing holds {who} back: of ratio and clipped ratio the better one is taken",
            why="The clip is there so that a step too far earns nothing more. What is taken here is always "
            "the product that makes the loss smaller, so the clip is passed by exactly where it should hold.",
            fix="take the smaller of the two objectives and put the minus in front of that, "
            "`-min(ratio * advantage, clipped * advantage)`; or the larger of the two losses",
        )
    if cause.turned == "ratio":
        return words.say(
            cause,
            title=f"{who.does('unlearns', 'unlearn')} what was good: the ratio is old over new",
            why="The new log-probability stands on the side that is taken away, so the ratio falls where the "
            "action becomes more likely, and the loss makes good actions less likely.",
            fix="write the new log-probability first: `exp(new_log_prob - old_log_prob)`",
        )
    return words.say(
        cause,
        title=f"{who.does('unlearns', 'unlearn')} what was good: the advantage is value minus return",
        why="The return stands on the side that is taken away: an action that did better than expected has a "
        "negative advantage, and the loss makes it less likely.",
        fix="take the value away from the return: `advantage = returns - values`",
    )


def _where(code: str) -> str:
    """Which term gets the minus: in a sum, the other ones are right as they are."""
    terms = rewrite.addends(code)
    if len(terms) < 2:
        return "put a minus in front of it"
    scored = [term for term in terms if "log_prob" in term]
    which = words.code(scored[0]) if len(scored) == 1 else "the term that is to grow"
    return f"put a minus in front of {which} alone: the other terms of the sum have signs of their own"


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
