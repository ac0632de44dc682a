"""clip-after-step: clipping ran when the step had been taken.

Reads the detail ``step_line``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="clip-after-step",
    family="wrong",
    summary="clipping runs after `step()`, when the gradients have been used",
    what="The call that clips stands below the `step()` that it was meant for.",
    why="The step has used the raw gradients; what is clipped afterwards is cleared or overwritten by the "
    "next update.",
    bad="""\
optimizer.zero_grad()
loss.backward()
optimizer.step()
nn.utils.clip_grad_norm_(policy.parameters(), 0.5)""",
    good="""\
optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
optimizer.step()""",
    use_instead="The order is `zero_grad`, `backward`, clip, `step`.",
    site="the clip call",
    bad_tensorflow="""\
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))
grads, norm = tf.clip_by_global_norm(grads, 0.5)""",
    good_tensorflow="""\
grads = tape.gradient(loss, variables)
grads, norm = tf.clip_by_global_norm(grads, 0.5)
optimizer.apply_gradients(zip(grads, variables))""",
)


def phrase(cause: Cause) -> Finding:
    """Put a clip that comes too late into words."""
    line = words.at(cause.details.get("step_line", ""))
    return words.say(
        cause,
        title="gradients are clipped after the step that has used them",
        why=f"The step{line} has applied the raw gradients when the clip runs; nothing uses the clipped ones."
        if words.on_tensorflow(cause)
        else f"The step{line} has applied the raw gradients when the clip runs; the next update overwrites "
        f"them.",
        fix=f"move the clip above `apply_gradients`{line}, below `tape.gradient`"
        if words.on_tensorflow(cause)
        else f"move the clip above the `step()`{line}, below the `backward()`",
    )


RULE = Rule(PAGE, phrase)
