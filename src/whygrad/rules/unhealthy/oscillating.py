"""oscillating: each gradient points back where the one before came from.

Reads the details ``turn``, ``first`` and ``last``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="oscillating",
    family="unhealthy",
    summary="gradients swing in sign without getting anywhere",
    what="In every pair of updates in a row that was looked at (five at least), the cosine between one "
    "gradient and the next is below -0.8, and the loss has not come down to half of what it was. Minibatches "
    "are noisy: without a cause, gradients in a row are at right angles or alike, not opposite.",
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


def phrase(cause: Cause) -> Finding:
    """Put swinging gradients into words."""
    details, subject = cause.details, words.who(cause)
    return words.say(
        cause,
        title=f"the gradient of {subject} swings back and forth",
        why=f"Each gradient points against the one before (cosine {details.get('turn', '-0.8')} or less), "
        f"and the loss goes from {details.get('first', '?')} to {details.get('last', '?')}: every step jumps "
        "over the valley.",
        fix="a tenth of the learning rate; scaled inputs and rewards",
        avoid="more momentum: it swings further",
    )


RULE = Rule(PAGE, phrase)
