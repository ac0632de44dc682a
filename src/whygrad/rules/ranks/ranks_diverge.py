"""ranks-diverge: ranks that shall train one model train one each."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="ranks-diverge",
    family="wrong",
    summary="ranks that shall train one model step with gradients of their own, or began with other weights",
    what="In training on several ranks every rank holds a copy of the model, and all copies stay the same: "
    "they begin with the same weights and step with the same gradients, which are averaged over the ranks. "
    "Here the copies go apart. Norms of weights and gradients are compared between ranks, update by update.",
    why="Each rank trains a model of its own on its part of the data, and nothing says so: every loss falls. "
    "What is saved is the copy of rank 0, which has seen a fraction of the data.",
    bad="""\
# model = DistributedDataParallel(net)
loss = F.mse_loss(model.module(state), returns)""",
    good="""\
# model = DistributedDataParallel(net)
loss = F.mse_loss(model(state), returns)""",
    use_instead="Call the model that `DistributedDataParallel` has made, for every loss whose gradients are "
    "stepped with; leave `no_sync()` before the last backward of an update. Without DDP: broadcast the "
    "weights once, and average the gradients before every step.",
    avoid="the same seed on all ranks: the weights begin alike, and all ranks see the same data.",
    site="the call or the block that keeps the gradients from being reduced; else the loss, or the step",
)

Since = Literal["reduced", "start", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RanksDiverge(Cause):
    """Copies of one model that are not the same any more."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    since: Since = "reduced"
    how: Literal["around", "unsynced", "inner", ""] = ""  # what keeps the gradients from being reduced
    ranks: int = 0


def phrase(cause: RanksDiverge) -> Finding:
    """Put copies that go apart into words."""
    who = words.who(cause)
    title, why, fix = {"reduced": _reduced, "start": _start, "step": _step}[cause.since](cause, who)
    avoid = "the same seed on all ranks: all of them would see the same data"
    return words.say(cause, title=title, why=why, fix=fix, avoid=avoid)


def _all(cause: RanksDiverge) -> str:
    return f"all {cause.ranks} ranks" if cause.ranks > 2 else "both ranks" if cause.ranks else "all ranks"


def _reduced(cause: RanksDiverge, who: words.Who) -> tuple[str, str, str]:
    """Gradients of their own."""
    before = f"Before update {cause.first_update or 1} the weights of {who} were the same in {_all(cause)}"
    told = {
        "around": (
            "The module inside of DistributedDataParallel is called here: nobody reduces its gradients.",
            "call the model that `DistributedDataParallel` has made, not the module in it",
        ),
        "unsynced": (
            "Inside of `no_sync()` gradients are not reduced, and a step is made with them.",
            "leave `no_sync()` before the last backward in front of each step",
        ),
        "inner": (
            "There is a DistributedDataParallel around it, which reduces gradients only of what is computed "
            "through it.",
            "call the model that `DistributedDataParallel` has made, not the one that was put into it",
        ),
        "": (
            "Each rank has stepped with its own gradients.",
            "wrap the model in `DistributedDataParallel`, or average the gradients before the step",
        ),
    }
    why, fix = told[cause.how]
    return f"{who} is trained apart in {_all(cause)}: gradients are not reduced", f"{before}. {why}", fix


def _start(cause: RanksDiverge, who: words.Who) -> tuple[str, str, str]:
    """Other weights from the beginning on."""
    return (
        f"{who} began with other weights in each rank",
        f"The gradients are the same in {_all(cause)}, and the weights have differed since the first update: "
        "each rank applies the average to a model of its own.",
        "before the first update, give all ranks the weights of rank 0: `dist.broadcast(p.data, 0)` for each "
        "parameter",
    )


def _step(cause: RanksDiverge, who: words.Who) -> tuple[str, str, str]:
    """The step is not the same."""
    return (
        f"{who} goes apart between ranks in the step itself",
        f"Before update {cause.first_update or 1} weights and gradients were the same in {_all(cause)}, and "
        "after it the weights are not: the optimizers differ, in their learning rate or in their memory.",
        "give all ranks the same learning rate, and load the optimizer's state on all of them or on none",
    )


RULE = Rule(PAGE, phrase, RanksDiverge)
