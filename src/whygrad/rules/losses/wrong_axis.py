"""wrong-axis: softmax, a sum or a maximum goes over the batch, and rows are mixed."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.losses.broadcast_loss import shown
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="wrong-axis",
    family="wrong",
    summary="softmax, a mean, a sum or a maximum goes over the batch instead of over actions or features",
    what="A network gives one row for each state of a batch, with its features in the last dimension. Here "
    "an operation that is meant for each row works along the batch, or over everything.",
    why="Rows leak into each other: the probabilities of one state's actions do not sum up to 1 but those of "
    "one action over all states; the best value is that of some other state. With a single state it may even "
    "look right. Shapes fit, and the loss falls.",
    bad="""\
log_probs = F.log_softmax(policy(state), dim=0)  # (N, A): over the states
chosen = log_probs.gather(1, action).squeeze(1)
loss = -(chosen * returns).mean()""",
    good="""\
log_probs = F.log_softmax(policy(state), dim=-1)  # (N, A): over the actions
chosen = log_probs.gather(1, action).squeeze(1)
loss = -(chosen * returns).mean()""",
    use_instead="The last dimension, `dim=-1`, is right for one state and for a batch of them.",
    avoid="`dim=0` because it runs with a single state: it means the batch as soon as there is one.",
    site="that call",
    bad_tensorflow="""\
next_q = tf.reduce_max(target_net(next_state))  # one number for all states
target = reward + gamma * (1.0 - done) * next_q""",
    good_tensorflow="""\
next_q = tf.reduce_max(target_net(next_state), axis=1)
target = reward + gamma * (1.0 - done) * next_q""",
)


class Mixed(StrEnum):
    """How rows get mixed."""

    NORMALISED = "normalised"  # softmax
    REDUCED = "reduced"  # one number for all rows, which then meets each of them
    CHOICES = "choices"  # softmax over what is chosen from, where each choice has a distribution of its own
    CENTRED = "centred"  # the mean of all rows is taken from each


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongAxis(Cause):
    """An operation that works along the batch."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    how: Mixed = Mixed.REDUCED
    operation: str = ""  # as the framework calls it
    axes: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()  # of what goes in


def phrase(cause: WrongAxis) -> Finding:
    """Put mixed rows into words."""
    does = f"`{cause.operation.strip('_')}`" if cause.operation else "this operation"
    if cause.how is Mixed.CHOICES:
        return _choices(cause, does)
    return words.say(
        cause,
        title=f"{does} works {_along(cause)}: the rows of the batch are mixed",
        why=f"What goes in{_shape(cause)} has a row for each state{_consequence(cause)}.",
        fix=f"let {does} work along the last dimension, `{_axis(cause)}=-1`: that is right for one state and "
        "for a batch",
    )


def _choices(cause: WrongAxis, does: str) -> Finding:
    return words.say(
        cause,
        title=f"{does} works along the actions: the distributions of different actions are mixed",
        why="One action is taken out of this dimension later, and the logarithms along the last one are "
        "summed up as those of a distribution; but what sums up to 1 here are the actions, atom by atom.",
        fix=f"let {does} work along the last dimension, `{_axis(cause)}=-1`",
    )


def _along(cause: WrongAxis) -> str:
    whole = len(cause.axes) > 1 and len(cause.axes) == len(cause.shape)
    return "over everything" if whole else "along the batch"


def _shape(cause: WrongAxis) -> str:
    return f", of the shape {shown(cause.shape)}," if cause.shape else ""


def _consequence(cause: WrongAxis) -> str:
    if cause.how is Mixed.NORMALISED:
        return ", and the probabilities of one state's actions do not sum up to 1: each hangs on other states"
    if cause.how is Mixed.CENTRED:
        return ", and what is taken from each row is the mean of all rows"
    return ", and one number of all of them together is used for each row"


def _axis(cause: WrongAxis) -> str:
    return cause.dialect.axis


RULE = Rule(PAGE, phrase, WrongAxis)
