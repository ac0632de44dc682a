"""scaled-by-ranks: a gradient that is as many times too large or too small as there are ranks."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="scaled-by-ranks",
    family="wrong",
    summary="gradients are summed over ranks and not averaged, or divided by their number twice",
    what="Every rank has the gradient of a mean over its own part of the data. Their average is the gradient "
    "of the mean over all of it. Here the gradient that is stepped with is their sum, or the average divided "
    "by the number of ranks once more. What each rank had after `backward` is compared with what it steps "
    "with.",
    why="The step depends on how many ranks there are: what was tuned on one machine goes wrong on eight, "
    "and thresholds of gradient clipping mean something else there. An optimizer that divides by the size of "
    "past gradients hides it, so nothing is said under Adam.",
    bad="""\
for parameter in net.parameters():
    dist.all_reduce(parameter.grad)  # a sum""",
    good="""\
for parameter in net.parameters():
    dist.all_reduce(parameter.grad)
    parameter.grad /= dist.get_world_size()""",
    use_instead="Divide the sum by `dist.get_world_size()`. `DistributedDataParallel` has done both when "
    "`backward` returns: leave gradients and loss alone there. If a larger step is meant, say so in the "
    "learning rate.",
    avoid="a smaller learning rate: it fits one number of ranks only.",
    site="the line that reduces or divides; else the step",
)

How = Literal["summed", "summed again", "divided again", "loss divided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledByRanks(Cause):
    """Gradients that are off by the number of ranks."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    how: How = "summed"
    ranks: int = 2


def phrase(cause: ScaledByRanks) -> Finding:
    """Put gradients that are off by the number of ranks into words."""
    who, n = words.who(cause), cause.ranks
    size = "large" if cause.how.startswith("summed") else "small"
    why = {
        "summed": f"Each of the {n} ranks has the gradient of a mean, and what is stepped with is their sum.",
        "summed again": "DistributedDataParallel has averaged the gradients when `backward` returns, so "
        f"all {n} ranks have the same; then they are summed.",
        "divided again": "DistributedDataParallel has averaged the gradients when `backward` returns; then "
        "they are divided by the number of ranks once more.",
        "loss divided": "The loss is divided by the number of ranks, and DistributedDataParallel averages "
        "its gradients, which divides by it once more.",
    }[cause.how]
    fix = {
        "summed": "divide by `dist.get_world_size()` after `all_reduce`",
        "summed again": "drop the `all_reduce`: DistributedDataParallel has done it",
        "divided again": "drop the division: DistributedDataParallel has done it",
        "loss divided": "drop the division: DistributedDataParallel does it",
    }[cause.how]
    return words.say(
        cause,
        title=f"the gradient of {who} is {n} times too {size}: it depends on the number of ranks",
        why=why,
        fix=fix,
        avoid="another learning rate: it fits one number of ranks only",
    )


RULE = Rule(PAGE, phrase, ScaledByRanks)
