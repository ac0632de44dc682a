"""target-leak: the bootstrap target is differentiated."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-leak",
    family="wrong",
    summary="the bootstrap target is differentiated, and the gradient changes what is learnt",
    what="The target of a regression, such as `r + gamma * v(next_state)`, carries gradient into "
    "parameters that an optimizer trains.",
    why="The network is changed to make the target meet the prediction as much as the other way round. "
    "Values drift towards each other instead of towards the returns; learning is slow or converges to "
    "something else.",
    bad="""\
target = reward + gamma * q_net(next_state).max(1).values
q = q_net(state).gather(1, action).squeeze(1)
loss = F.mse_loss(q, target)""",
    good="""\
with torch.no_grad():
    target = reward + gamma * q_net(next_state).max(1).values
q = q_net(state).gather(1, action).squeeze(1)
loss = F.mse_loss(q, target)""",
    use_instead="Compute the target under `torch.no_grad()`, or `.detach()` it; in TensorFlow before the "
    "tape, or with `tf.stop_gradient`.",
    avoid="Cutting the prediction instead: then only the target is trained.",
    site="where the target is computed",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    target = reward + gamma * tf.reduce_max(q_net(next_state), axis=1)
    q = tf.gather(q_net(state), action, batch_dims=1)
    loss = tf.reduce_mean(tf.square(target - q))""",
    good_tensorflow="""\
target = reward + gamma * tf.reduce_max(q_net(next_state), axis=1)  # outside of the tape
with tf.GradientTape() as tape:
    q = tf.gather(q_net(state), action, batch_dims=1)
    loss = tf.reduce_mean(tf.square(target - q))""",
    bad_jax="""\
def loss_fn(params):
    target = reward + 0.99 * q(params, next_obs).max(-1)
    return jnp.square(q(params, obs)[rows, action] - target).mean()""",
    good_jax="""\
def loss_fn(params):
    target = reward + 0.99 * q(target_params, next_obs).max(-1)
    return jnp.square(q(params, obs)[rows, action] - target).mean()""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLeak(Cause):
    """The target of a regression is differentiated."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    harmless: bool = False  # nobody applies what it collects
    asked: bool = False  # the call was told to compute these gradients
    prediction_cut: bool = False  # only the target is trained
    value: Site | None = None  # where the value of the next state is computed
    mixed: bool = False  # the prediction stands in the line of the target, too
    residual: bool = False  # it may be a residual gradient, which is meant


def phrase(cause: TargetLeak) -> Finding:
    """Put a differentiated target into words."""
    return _collected(cause) if cause.harmless else _pulled(cause)


def _collected(cause: TargetLeak) -> Finding:
    who, here = words.who(cause), cause.dialect
    asked = f", and ask `{here.ask}` only for what is trained" if cause.asked else ""
    return words.say(
        cause,
        title=f"the target is differentiated: {who.does('collects', 'collect')} gradients that nobody uses",
        why=f"The loss{_line(cause)} also differentiates its target. No optimizer holds {who}, so nothing is "
        "learnt wrongly; it costs time and memory.",
        fix=f"{here.constant}{asked}",
    )


def _pulled(cause: TargetLeak) -> Finding:
    who = words.who(cause)
    cut = " The prediction carries none: only the target is trained." if cause.prediction_cut else ""
    return words.say(
        cause,
        title=f"the bootstrap target is differentiated: {who.does('is', 'are')} pulled from both sides",
        why=f"The loss{_line(cause)} compares a prediction with a target that carries gradient itself, so "
        f"the target is moved towards the prediction as well.{cut}",
        fix=_stopped(cause) + ("; a residual gradient that is meant can stay" if cause.residual else ""),
        avoid="cutting the prediction instead: then only the target is trained",
    )


def _line(cause: TargetLeak) -> str:
    return f" at {words.place(cause.loss, cause.site)}" if cause.loss else ""


def _stopped(cause: TargetLeak) -> str:
    """Cut the target, and not the prediction, which may stand in the same line."""
    code, here = words.source(cause), cause.dialect
    if cause.mixed:
        value = rewrite.assigned(cause.value.code) if cause.value else ""
        new = rewrite.stopped_value(code, value, here.stopped)
        return words.write(new) if new else f"stop the value of the next state alone with `{here.stop}`"
    name = rewrite.assigned(code)
    cut = f"use `{here.stopped(name)}` in the loss" if name else f"stop its gradient with `{here.stop}`"
    return f"{here.constant}, or {cut}"


RULE = Rule(PAGE, phrase, TargetLeak)
