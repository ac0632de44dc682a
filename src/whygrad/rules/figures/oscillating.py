"""oscillating: each gradient points back where the one before came from."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

REVERSED = -0.8  # the cosine between one gradient and the next

PAGE = Page(
    slug="oscillating",
    family="unhealthy",
    summary="gradients swing in sign without getting anywhere",
    what="In every pair of updates in a row that was looked at (five at least), the cosine between one "
    f"gradient and the next is below {REVERSED}, and the loss has not come down to half of what it was. "
    "Minibatches are noisy: without a cause, gradients in a row are at right angles or alike, not opposite.",
    why="Each step jumps over the valley and the next one jumps back: the learning rate is too large for "
    "this loss, or two losses pull in turns.",
    bad="""\
optimizer = torch.optim.SGD(critic.parameters(), lr=1.0)""",
    good="""\
optimizer = torch.optim.SGD(critic.parameters(), lr=0.01)""",
    use_instead="A tenth of the learning rate; scaled inputs and rewards; for alternating losses, one step "
    "on their sum.",
    avoid="more momentum: it swings further",
    site="where the optimizer is made",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oscillating(Cause):
    """Each gradient takes back the one before, and the loss stays where it is."""

    rule: ClassVar[str] = PAGE.slug
    turn: float = REVERSED  # the largest cosine between a gradient and the one before
    first: float | None = None  # the loss, at first
    last: float | None = None


def phrase(cause: Oscillating) -> Finding:
    """Put swinging gradients into words."""
    return words.say(
        cause,
        title=f"the gradient of {words.who(cause)} swings back and forth",
        why=f"Each gradient points against the one before (cosine {cause.turn:.2f} or less), and the loss "
        f"{_course(cause)}: every step jumps over the valley.",
        fix="a tenth of the learning rate; scaled inputs and rewards",
        avoid="more momentum: it swings further",
    )


def _course(cause: Oscillating) -> str:
    if cause.first is None or cause.last is None:
        return "does not fall"
    return f"goes from {cause.first:.3g} to {cause.last:.3g}"


RULE = Rule(PAGE, phrase, Oscillating)
