"""unused-on-ranks: the loss of some ranks leaves a parameter out, and the others train it."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="unused-on-ranks",
    family="wrong",
    summary="a parameter is in the loss of some ranks only, and its gradient is averaged with nothing",
    what="In every update that was recorded, the loss of some ranks reaches a parameter and the loss of the "
    "others does not. `find_unused_parameters=True` lets that pass: where there is no gradient, zeros are "
    "averaged in.",
    why="The parameter learns from a part of the data, with a gradient that shrinks with every rank that "
    "leaves it out. Without `find_unused_parameters=True` the ranks would wait for it, and stop.",
    bad="""\
loss = policy_loss
if rank == 0:
    loss = loss + value_loss""",
    good="""\
loss = policy_loss + value_loss""",
    use_instead="Compute the same loss on every rank. If a part of the model belongs to some ranks only, "
    "reduce its gradients among them (`process_group=`), and divide by their number.",
    avoid="`find_unused_parameters=True`: it only hides which parameters are left out.",
    site="the loss of a rank that leaves it out",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedOnRanks(Cause):
    """Parameters that some ranks train and others do not."""

    rule: ClassVar[str] = PAGE.slug
    without: tuple[int, ...] = ()  # the ranks that leave it out
    ranks: int = 2


def phrase(cause: UnusedOnRanks) -> Finding:
    """Put a parameter that some ranks leave out into words."""
    who, left = words.who(cause), cause.without
    some = [str(rank) for rank in left[:4]] + ([f"{len(left) - 4} more"] if left[4:] else [])
    where = f"{'rank' if len(left) == 1 else 'ranks'} {words.listed(some)}" if left else "some ranks"
    everybody = "both ranks" if cause.ranks == 2 else f"all {cause.ranks} ranks"
    return words.say(
        cause,
        title=f"{who.does('takes', 'take')} no part in the loss of {where}",
        why=f"The other ranks train {who.it}. What comes of it is averaged over {everybody}, "
        f"with nothing from {where}: the gradient is too small, and a part of the data is never learnt from.",
        fix="compute the same loss on all ranks; the branch that leaves a term out depends on the rank",
        avoid="`find_unused_parameters=True`: it lets this pass, and changes nothing",
    )


RULE = Rule(PAGE, phrase, UnusedOnRanks)
