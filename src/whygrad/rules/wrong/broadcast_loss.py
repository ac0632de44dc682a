"""broadcast-loss: a column met a row, and the loss works on N x N numbers.

Reads the details ``column``, ``row``, ``wide`` and ``harmless``.
"""

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
    "not even that.",
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


def phrase(cause: Cause) -> Finding:
    """Put a column against a row into words."""
    details = cause.details
    tensorflow = details.get("framework") == "tensorflow"
    fix = _FIX_TF if tensorflow else _FIX
    squeeze = "`tf.squeeze(q)` without an axis" if tensorflow else "a bare `.squeeze()`"
    column, row = details.get("column", "(N, 1)"), details.get("row", "(N,)")
    wide = details.get("wide", "(N, N)")
    if details.get("harmless"):
        return words.say(
            cause,
            title=f"the loss works on {wide}: {column} met {row}, which is harmless here",
            why="They are only added and averaged, so the gradient is the same as row by row; it costs "
            "time, and "
            "any square or product behind it would make it wrong.",
            fix=fix,
        )
    return words.say(
        cause,
        title=f"the loss works on {wide}: {column} met {row}",
        why=f"One side has the shape {column}, the other {row}. They are combined each with each, not row by "
        f"row, so every prediction is pulled towards the targets of the whole batch.",
        fix=fix,
        avoid=f"{squeeze}: it removes the batch dimension, too, when a batch has one row",
    )


RULE = Rule(PAGE, phrase)
