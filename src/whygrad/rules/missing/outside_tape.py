"""outside-tape: TensorFlow's ``GradientTape`` did not see the forward pass.

Reads the details ``kind`` (``before``, ``after``, ``paused``, ``unwatched``, ``asked-twice``) and
``tape_line``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="outside-tape",
    family="missing",
    summary="TensorFlow: the forward pass or the loss ran outside of the `GradientTape` that is asked",
    what="The forward pass or the loss ran before, after or outside of the `tf.GradientTape` that is asked "
    "for gradients, or while it was paused; or the tape was asked twice without being persistent.",
    why="A tape knows only what happened inside of it. For everything else `tape.gradient` answers `None`, "
    "and `apply_gradients` skips those variables with a warning at most.",
    bad="""\
action = actor(state)
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(loss, actor.trainable_variables)  # all None""",
    good="""\
with tf.GradientTape() as tape:
    action = actor(state)
    loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(loss, actor.trainable_variables)""",
    use_instead="Put everything from the first call of the network to the loss into the `with` block, and "
    "`tape.gradient` after it. Ask twice only with `tf.GradientTape(persistent=True)`; use `tape.watch(x)` "
    "for a tensor that is not a variable.",
    avoid="Filtering out the `None` gradients before `apply_gradients`: the warning goes, the variables "
    "still do not learn.",
    site="the operation that ran outside, or the call on the tape",
)

_KINDS = {
    "before": ("it ran before the tape started", "move this line into the `with tf.GradientTape()` block"),
    "after": ("the loss was computed after the tape ended", "move the loss into the tape's block"),
    "paused": ("the tape was paused", "move this line out of the `tape.stop_recording()` block"),
    "unwatched": ("the tape does not watch this tensor", "call `tape.watch(x)` before the forward pass"),
    "asked-twice": (
        "the tape was asked twice",
        "use `tf.GradientTape(persistent=True)`, or one tape per loss",
    ),
}
_DEFAULT = ("it ran outside of the tape", "move the forward pass and the loss into the tape's block")


def phrase(cause: Cause) -> Finding:
    """Put a forward pass that no tape saw into words."""
    short, fix = _KINDS.get(cause.details.get("kind", ""), _DEFAULT)
    tape = f"The tape{words.at(cause.details.get('tape_line', ''))}"
    return words.say(
        cause,
        title=words.starved(cause, short),
        why=f"{tape} knows only what ran inside of it; for the rest its gradients are `None`.",
        fix=fix,
        avoid="filtering out the `None` gradients: the warning goes away, the variables still do not learn",
    )


RULE = Rule(PAGE, phrase)
