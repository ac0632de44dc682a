"""stalled: steps so small beside the weights that nothing moves, or so large that nothing stays.

Reads the details ``how`` (still, over) and ``ratio``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="stalled",
    family="unhealthy",
    summary="updates so small next to the weights that nothing moves, or the reverse",
    what="The length of a step of a network, divided by the length of its weights. Below 1e-8 in every "
    "update that was measured: float32 has 7 digits, most of such a step is rounded away. Above 2 in every "
    "one: each step is longer than all the weights together. Healthy trainings are around 1e-3, between 1e-6 "
    "and 1e-1.",
    why="The gradients are right and nothing comes of them, or nothing of what was learnt survives the next "
    "step.",
    bad="""\
optimizer = torch.optim.Adam(net.parameters(), lr=3e-12)  # a slip of the exponent""",
    good="""\
optimizer = torch.optim.Adam(net.parameters(), lr=3e-4)""",
    use_instead="A learning rate of 1e-4 to 1e-3 for Adam. Look at schedulers too: one that has come to its "
    "end may have left nothing.",
    site="where the optimizer is made",
)


def phrase(cause: Cause) -> Finding:
    """Put steps that lead nowhere into words."""
    details, subject = cause.details, words.who(cause)
    ratio = details.get("ratio", "nearly nothing")
    if details.get("how") == "over":
        return words.say(
            cause,
            title=f"each step throws {subject} away: {ratio} times the length of its weights",
            why="A step that is longer than all the weights together leaves nothing of what was learnt.",
            fix="a much smaller learning rate: 1e-4 to 1e-3 for Adam",
        )
    return words.say(
        cause,
        title=f"{subject.does('stands', 'stand')} still: a step is {ratio} of the weights",
        why="The gradients are there; the steps are so small that float32 rounds most of them away.",
        fix="a larger learning rate (1e-4 to 1e-3 for Adam); look at what a scheduler or a scale on the loss "
        "leaves of it",
    )


RULE = Rule(PAGE, phrase)
