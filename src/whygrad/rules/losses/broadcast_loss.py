"""broadcast-loss: a column met a row, and the loss works on N x N numbers."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="broadcast-loss",
    family="wrong",
    summary="shapes such as (N, 1) and (N,) meet in the loss, which then works on N x N numbers",
    what="Two values that belong together row by row have the shapes (N, 1) and (N,). Arithmetic does not "
    "pair them up: it combines each with each, and the mean goes over N x N numbers.",
    why="Every prediction is pulled towards every target, so all of them towards the mean of the batch. "
    "The loss falls and looks like learning; a loss function only prints a warning, plain arithmetic "
    "not even that. The same happens where one target meets the values of all actions, (N, 1) and (N, 3), "
    "or one number a whole batch: it is repeated until it fits.",
    bad="""\
q = q_net(state).gather(1, action)  # (N, 1)
target = reward + gamma * next_q  # (N,)
loss = ((q - target) ** 2).mean()  # over N x N numbers""",
    good="""\
q = q_net(state).gather(1, action).squeeze(1)  # (N,)
target = reward + gamma * next_q  # (N,)
loss = ((q - target) ** 2).mean()""",
    use_instead="Give both the same shape: `.squeeze(1)` on the column, or `.unsqueeze(1)` on the row. An "
    "`assert "
    "q.shape == target.shape` in front of the loss costs nothing.",
    avoid="A bare `.squeeze()` also removes the batch dimension when a batch has one row.",
    site="the operation that broadcast",
)


_FIX = "give both the same shape: `.squeeze(1)` on the column, or `.unsqueeze(1)` on the row"
_FIX_TF = "give both the same shape: `tf.squeeze(q, axis=1)` on the column, or `y[:, None]` on the row"


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastLoss(Cause):
    """A column and a row are combined each with each. Lengths below zero are not known."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    column: tuple[int, ...] = (-1, 1)
    row: tuple[int, ...] = (-1,)
    wide: tuple[int, ...] = (-1, -1)  # what comes out
    names: tuple[str, str] = ("column", "row")  # what the user calls the two
    harmless: bool = False  # they are only added and averaged
    repeated: bool = False  # the first alone is repeated: one target for many predictions, or one prediction


def phrase(cause: BroadcastLoss) -> Finding:
    """Put a column against a row into words."""
    if cause.repeated:
        return _repeated(cause)
    return _averaged(cause) if cause.harmless else _mixed(cause)


def _repeated(cause: BroadcastLoss) -> Finding:
    few, many = shown(cause.column), shown(cause.row)
    single = "a single number" if not cause.column else "one number for each row"
    return words.say(
        cause,
        title=_title(cause),
        why=f"One side of the comparison has the shape {few}, {single}; the other has {many}. The first is "
        "repeated until it fits, so numbers are compared that have nothing to do with each other.",
        fix=_one_each(cause),
        avoid="`expand` to silence it, unless each of them is meant to learn from the same target",
    )


def _one_each(cause: BroadcastLoss) -> str:
    if not cause.column:
        return "keep one value for each row: take the mean or the maximum along one axis, not over everything"
    return f"compare one number with one: {cause.dialect.picked}"


def _averaged(cause: BroadcastLoss) -> Finding:
    return words.say(
        cause,
        title=f"{_title(cause)}, which is harmless here",
        why="They are only added and averaged, so the gradient is the same as row by row; it costs time, and "
        "any square or product behind it would make it wrong.",
        fix=_fix(cause),
    )


def _mixed(cause: BroadcastLoss) -> Finding:
    return words.say(
        cause,
        title=_title(cause),
        why=f"One side has the shape {shown(cause.column)}, the other {shown(cause.row)}. They are combined "
        "each with each, not row by row, so every prediction is pulled towards the targets of the whole "
        "batch.",
        fix=_fix(cause),
        avoid="a bare `squeeze()`: it removes the batch dimension, too, when a batch has one row",
    )


def _title(cause: BroadcastLoss) -> str:
    return f"the loss works on {shown(cause.wide)}: {shown(cause.column)} met {shown(cause.row)}"


def _fix(cause: BroadcastLoss) -> str:
    column, row = cause.names
    return f"give both the same shape: `{cause.dialect.squeezed(column)}`, or `{row}[..., None]`"


def shown(shape: tuple[int, ...]) -> str:
    """A shape as Python prints it, with N for a length that is not known: ``(N, 1)``."""
    lengths = ["N" if length < 0 else str(length) for length in shape]
    return f"({lengths[0]},)" if len(lengths) == 1 else f"({', '.join(lengths)})"


RULE = Rule(PAGE, phrase, BroadcastLoss)
