"""clip-before-backward: clipping ran when the gradients were not there yet."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="clip-before-backward",
    family="wrong",
    summary="clipping runs before `backward`, on old gradients or on none",
    what="The call that clips stands above the `backward` whose gradients it was meant for. PyTorch only: in "
    "TensorFlow a clip works on the gradients that it is given.",
    why="`backward` then writes the real gradients, and the step uses them unclipped. Nothing fails; one "
    "bad batch can still throw the network off.",
    bad="""\
optimizer.zero_grad()
nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
loss.backward()
optimizer.step()""",
    good="""\
optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
optimizer.step()""",
    use_instead="The order is `zero_grad`, `backward`, clip, `step`.",
    site="the clip call",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipBeforeBackward(Cause):
    """Gradients are clipped that a backward is still to write."""

    rule: ClassVar[str] = PAGE.slug
    backward: Site | None = None
    absent: bool = False  # there was no gradient at all, not even an old one


def phrase(cause: ClipBeforeBackward) -> Finding:
    """Put a clip that comes too early into words."""
    found = "none yet" if cause.absent else "only old ones, which a step has already used"
    line, here = words.near(cause.backward, cause.site), cause.dialect
    return words.say(
        cause,
        title=f"gradients are clipped before {here.differentiate} has computed them",
        why=f"When the clip runs it finds no gradients of this update, {found}; "
        f"the `{here.differentiate}`{line} writes them afterwards, and the step uses them unclipped.",
        fix=f"move the clip below the `{here.differentiate}`{line}, above the `{here.step}`",
    )


RULE = Rule(PAGE, phrase, ClipBeforeBackward)
