"""zero-grad-missing: gradients of earlier updates pile up."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="zero-grad-missing",
    family="wrong",
    summary="gradients of earlier updates pile up: nothing clears them",
    what="`backward` adds to what is in `.grad`. Here a step uses the gradients, and nothing clears them "
    "before the next `backward`."
    " PyTorch only: TensorFlow keeps no gradients between updates.",
    why="Every step applies the sum of all gradients so far, most of them computed for weights of long "
    "ago. It works like a momentum that never fades.",
    bad="""\
for batch in batches:
    loss = policy_loss(batch)
    loss.backward()
    optimizer.step()""",
    good="""\
for batch in batches:
    loss = policy_loss(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()""",
    use_instead="Call `zero_grad()` of the optimizer that steps, once per step. To accumulate on purpose: "
    "several "
    "`backward`, one `step`, one `zero_grad`.",
    site="the `backward` call",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroGradMissing(Cause):
    """Stored gradients that a step has used are added to."""

    rule: ClassVar[str] = PAGE.slug
    step: Site | None = None


def phrase(cause: ZeroGradMissing) -> Finding:
    """Put gradients that pile up into words."""
    line = words.near(cause.step, cause.site)
    return words.say(
        cause,
        title=f"the gradients of {words.who(cause)} pile up: nothing clears them",
        why=f"The step{line} uses the gradients and leaves them there; this "
        f"`{cause.dialect.differentiate}` adds the new ones to all the old ones.",
        fix=f"call `{cause.optimizer or 'optimizer'}.zero_grad()` in front of it",
    )


RULE = Rule(PAGE, phrase, ZeroGradMissing)
