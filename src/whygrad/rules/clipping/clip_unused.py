"""clip-unused: the gradients are clipped in a copy, and the raw ones are applied."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="clip-unused",
    family="wrong",
    summary="clipped copies of the gradients are computed, and the raw gradients are applied",
    what="The result of an out-of-place clip (`clamp` without the underscore, a list of clipped copies) is "
    "never put back into `.grad`. Or the clip is given the parameters of another network, or an iterator "
    "that was walked to its end before.",
    why="The step uses what is in `.grad`: the raw gradients.",
    bad="""\
loss.backward()
for p in policy.parameters():
    p.grad.clamp(-1, 1)  # a new tensor that nobody keeps
optimizer.step()""",
    good="""\
loss.backward()
for p in policy.parameters():
    p.grad.clamp_(-1, 1)
optimizer.step()""",
    use_instead="Clip in place: `p.grad.clamp_(-1, 1)`, `nn.utils.clip_grad_value_(...)`, or assign the "
    "result to "
    "`p.grad`.",
    site="the clip call",
    bad_tensorflow="""\
grads = tape.gradient(loss, variables)
clipped, norm = tf.clip_by_global_norm(grads, 0.5)
optimizer.apply_gradients(zip(grads, variables))  # the raw ones""",
    good_tensorflow="""\
grads = tape.gradient(loss, variables)
clipped, norm = tf.clip_by_global_norm(grads, 0.5)
optimizer.apply_gradients(zip(clipped, variables))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipUnused(Cause):
    """The clipped copies are dropped."""

    rule: ClassVar[str] = PAGE.slug
    step: Site | None = None
    beside: bool = False  # what it clips is not what the step applies
    empty: bool = False  # it was given no parameters at all


def phrase(cause: ClipUnused) -> Finding:
    """Put a clipped copy that nobody uses into words."""
    line = words.near(cause.step, cause.site)
    if cause.beside:
        return _beside(cause, line)
    return words.say(
        cause,
        title="the clipped gradients are not the ones that are applied",
        why=f"This call gives clipped copies, which nobody uses; the step{line} applies the raw gradients.",
        fix=cause.dialect.apply_clipped,
    )


def _beside(cause: ClipUnused, line: str) -> Finding:
    given = "no parameters at all" if cause.empty else "the parameters of another network"
    again = " An iterator such as `net.parameters()` can be walked through once." if cause.empty else ""
    return words.say(
        cause,
        title=f"the gradients of {words.who(cause)} are not clipped: this call is given {given}",
        why=f"The step{line} applies gradients that this call has not touched.{again}",
        fix=f"give it the parameters that {cause.optimizer or 'the optimizer'} steps on",
    )


RULE = Rule(PAGE, phrase, ClipUnused)
