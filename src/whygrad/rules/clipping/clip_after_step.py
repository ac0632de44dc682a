"""clip-after-step: clipping ran when the step had been taken."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipAfterStep(Cause):
    """Gradients are clipped that a step has already used."""

    rule: ClassVar[str] = PAGE.slug
    step: Site | None = None


def phrase(cause: ClipAfterStep) -> Finding:
    """Put a clip that comes too late into words."""
    line, here = words.near(cause.step, cause.site), cause.dialect
    return words.say(
        cause,
        title="gradients are clipped after the step that has used them",
        why=f"The step{line} has applied the raw gradients when the clip runs; "
        "nothing uses the clipped ones.",
        fix=f"move the clip above the `{here.step}`{line}, below the `{here.differentiate}`",
    )


RULE = Rule(PAGE, phrase, ClipAfterStep)
