"""stalled: steps so small beside the weights that nothing moves, or so large that nothing stays."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

STANDSTILL = 1e-8  # of the weights, in one step: float32 rounds most of it away
OVERTURNED = 2.0  # a step twice as long as all the weights together

PAGE = Page(
    slug="stalled",
    family="unhealthy",
    summary="updates so small next to the weights that nothing moves, or the reverse",
    what="The length of a step of a network, divided by the length of its weights. Below "
    f"{words.power(STANDSTILL)} in every update that was measured: float32 has 7 digits, most of such a step "
    f"is rounded away. Above {OVERTURNED:g} in every one: each step is longer than all the weights together. "
    "Healthy trainings are around 1e-3, between 1e-6 and 1e-1.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled(Cause):
    """Steps of the wrong length."""

    rule: ClassVar[str] = PAGE.slug
    faded: int = 0  # the step since which the learning rate is nothing beside what it was
    over: bool = False  # too long; otherwise too short
    ratio: float | None = None  # the length of a step, measured by the weights
    since: int = 0  # the first update seen to change nothing, where those before it did


def phrase(cause: Stalled) -> Finding:
    """Put steps that lead nowhere into words."""
    if cause.faded:
        return _faded(cause)
    return _stopped(cause) if cause.since else _thrown(cause) if cause.over else _still(cause)


def _stopped(cause: Stalled) -> Finding:
    return words.say(
        cause,
        title=f"{words.who(cause).does('stops', 'stop')} learning early: from update {cause.since:,} on, "
        "steps change nothing",
        why="There is a gradient still, and the first steps did move the weights: the learning rate has "
        "fallen to 0 long before the end.",
        fix="let the schedule end where the training does: count updates, not epochs or episodes; or give it "
        "a last value above 0",
    )


def _thrown(cause: Stalled) -> Finding:
    who = words.who(cause)
    times = "several" if cause.ratio is None else f"{cause.ratio:.1f}"
    return words.say(
        cause,
        title=f"each step throws {who} away: {times} times the length of {who.their} weights",
        why="A step that is longer than all the weights together leaves nothing of what was learnt.",
        fix="a much smaller learning rate: 1e-4 to 1e-3 for Adam",
    )


def _faded(cause: Stalled) -> Finding:
    return words.say(
        cause,
        title=f"{words.who(cause).does('stands', 'stand')} still since update {cause.faded:,}: the learning "
        "rate is gone",
        why=f"From update {cause.faded:,} of {cause.updates:,} on, the learning rate is less than 1/10,000 "
        "of what it was. A schedule that is meant for epochs, and stepped with each update, does this.",
        fix="step the schedule once per epoch, or let it last for as many steps as it is given",
    )


def _still(cause: Stalled) -> Finding:
    step = f"a step is {cause.ratio:.1e} of the weights" if cause.ratio else "its steps change nothing"
    return words.say(
        cause,
        title=f"{words.who(cause).does('stands', 'stand')} still: {step}",
        why="The gradients are there; the steps are so small that float32 rounds most of them away.",
        fix="a larger learning rate (1e-4 to 1e-3 for Adam); look at what a scheduler or a scale on the loss "
        "leaves of it",
    )


RULE = Rule(PAGE, phrase, Stalled)
