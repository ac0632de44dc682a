"""target-leak: the bootstrap target is differentiated.

Reads the details ``harmless`` and ``prediction_cut``.
"""

from whygrad.model import Finding
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
)


def phrase(cause: Cause) -> Finding:
    """Put a differentiated target into words."""
    who = words.who(cause)
    line = f" at {words.place(cause.loss, cause.site)}" if cause.loss else ""
    if cause.details.get("harmless"):
        return words.say(
            cause,
            title=f"the target is differentiated: {who.does('collects', 'collect')} gradients that nobody "
            f"uses",
            why=f"The loss{line} also differentiates its target. No optimizer holds {who}, so nothing is "
            f"learnt "
            "wrongly; it costs time and memory.",
            fix="compute the target before the tape, and ask the tape only for what is trained"
            if words.on_tensorflow(cause)
            else "compute the target under `torch.no_grad()`",
        )
    cut = (
        " The prediction carries none: only the target is trained."
        if cause.details.get("prediction_cut")
        else ""
    )
    return words.say(
        cause,
        title=f"the bootstrap target is differentiated: {who.does('is', 'are')} pulled from both sides",
        why=f"The loss{line} compares a prediction with a target that carries gradient itself, so the "
        f"target is "
        f"moved towards the prediction as well.{cut}",
        fix=_fix(words.source(cause), words.on_tensorflow(cause)),
        avoid="cutting the prediction instead: then only the target is trained",
    )


def _fix(code: str, tensorflow: bool) -> str:
    under = "compute it under `with torch.no_grad():`"
    name = rewrite.assigned(code)
    if tensorflow:
        stop = f"use `tf.stop_gradient({name})` in the loss" if name else "wrap it in `tf.stop_gradient`"
        return f"{stop}, or compute it before the tape is opened"
    return f"{under}, or use `{name}.detach()` in the loss" if name else f"{under}, or `.detach()` it"


RULE = Rule(PAGE, phrase)
