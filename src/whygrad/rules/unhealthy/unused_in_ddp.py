"""unused-in-ddp: distributed training stops because a parameter took no part in the last loss.

Reads the details ``kind`` (sometimes, never) and ``at``, the line that was stopped.
"""

from whygrad.model import Finding
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


def phrase(cause: Cause) -> Finding:
    """Put a gradient that never comes into words."""
    who, at = words.who(cause), cause.details.get("at", "")
    stopped = f" (line {at})" if at else ""
    if cause.details.get("kind") == "sometimes":
        why = f"This term reached {who} before, and was not in the last loss: ranks wait for it{stopped}."
        fix = "keep the term in every loss, times 0 where it does not apply: the gradient is then zeros"
    else:
        why = f"No loss that was recorded depends on {who}; the ranks wait for its gradient{stopped}."
        fix = f"put what {who} computes into the loss, or leave it out of the module that DDP wraps"
    return words.say(
        cause,
        title=f"{who.does('has', 'have')} no part in the last loss, and DDP waits for it",
        why=why,
        fix=fix,
        avoid="`find_unused_parameters=True` before you know why: a term that was forgotten stays forgotten",
    )


RULE = Rule(PAGE, phrase)
