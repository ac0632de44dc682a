"""zero-grad-missing: gradients of earlier updates pile up.

Reads the detail ``step_line``.
"""

from whygrad.model import Finding
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


def phrase(cause: Cause) -> Finding:
    """Put gradients that pile up into words."""
    who, line = words.who(cause), words.at(cause.details.get("step_line", ""))
    call = f"`{cause.optimizer}.zero_grad()`" if cause.optimizer else "`optimizer.zero_grad()`"
    return words.say(
        cause,
        title=f"the gradients of {who} pile up: nothing clears them",
        why=f"The step{line} uses the gradients and leaves them there; this `backward` adds the new ones to "
        f"all "
        "the old ones.",
        fix=f"call {call} in front of it",
    )


RULE = Rule(PAGE, phrase)
