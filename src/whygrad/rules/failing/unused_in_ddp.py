"""unused-in-ddp: distributed training stops because a parameter took no part in the last loss."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="unused-in-ddp",
    family="unhealthy",
    summary="distributed training stops because a parameter took no part in the loss",
    what="`DistributedDataParallel` waits until every parameter has its gradient, in every update. One that "
    "took no part in the loss keeps it waiting, and the next forward pass stops with `Expected to have "
    "finished reduction in the prior iteration`. PyTorch gives the numbers of the parameters; the finding "
    "names them.",
    why="The message comes one update too late and at the wrong line, and the cure that it offers hides a "
    "term that was forgotten.",
    bad="""\
loss = policy_loss
if buffer.full():
    loss = loss + 0.5 * F.mse_loss(value, returns)  # the value head is left out in some updates
loss.backward()""",
    good="""\
share = 0.5 if buffer.full() else 0.0
loss = policy_loss + share * F.mse_loss(value, returns)  # always a part of the loss
loss.backward()""",
    use_instead="Let every parameter be a part of every loss: multiply a term by 0 where it does not apply. "
    "If leaving it out is meant, and every rank may do so on its own, `find_unused_parameters=True` is made "
    "for it and costs a walk through the graph in every update.",
    avoid="`find_unused_parameters=True` before you know which parameter it is: a term that was forgotten "
    "stays forgotten.",
    site="the term that is left out; where the parameter never took part, the call that stopped",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedInDdp(Cause):
    """Distributed training waits for a gradient that never comes."""

    rule: ClassVar[str] = PAGE.slug
    sometimes: bool = False  # an earlier loss had a term for it, which is the site
    stopped: Site | None = None  # the call that waited in vain


def phrase(cause: UnusedInDdp) -> Finding:
    """Put a gradient that never comes into words."""
    who = words.who(cause)
    why, fix = _left_out(cause, who) if cause.sometimes else _never_in(cause, who)
    return words.say(
        cause,
        title=f"{who.does('has', 'have')} no part in the last loss, and DDP waits for {who.it}",
        why=why,
        fix=fix,
        avoid="`find_unused_parameters=True` before you know why: a term that was forgotten stays forgotten",
    )


def _left_out(cause: UnusedInDdp, who: words.Who) -> tuple[str, str]:
    stopped = words.near(cause.stopped, cause.site)
    return (
        f"This term reached {who} before, and was not in the last loss: ranks wait for it{stopped}.",
        "keep the term in every loss, times 0 where it does not apply: the gradient is then zeros",
    )


def _never_in(cause: UnusedInDdp, who: words.Who) -> tuple[str, str]:
    stopped = words.near(cause.stopped, cause.site)
    return (
        f"No loss that was recorded depends on {who}; the ranks wait for {who.their} gradient{stopped}.",
        f"put what {who.does('computes', 'compute')} into the loss, or leave {who.it} out of the module "
        "that DDP wraps",
    )


RULE = Rule(PAGE, phrase, UnusedInDdp)
