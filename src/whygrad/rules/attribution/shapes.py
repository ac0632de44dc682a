"""Losses that work on N x N numbers, because (N, 1) met (N,)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from whygrad.flow.bootstraps import LOSSES
from whygrad.flow.paths import ancestors
from whygrad.model import Backward, Flow, Op, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_ELEMENTWISE = LOSSES | frozenset(
    (
        "add",
        "radd",
        "sub",
        "rsub",
        "mul",
        "rmul",
        "div",
        "truediv",
        "rtruediv",
        "minimum",
        "maximum",
        "min",
        "max",
        "pow",
        "rpow",
        "where",
        "addcmul",
        "addcdiv",
        "lerp",
        "subtract",
        "multiply",
        "divide",
    )
)
_WIDENING = frozenset(("unsqueeze", "getitem"))


def broadcast(situation: Situation) -> Iterator[Cause]:
    """The first operation of each line that broadcasts a column against a row."""
    found: dict[Site | None, tuple[Op, Backward]] = {}
    hits: dict[Site | None, int] = {}
    met: dict[Site | None, int] = {}
    for backward in situation.backwards:
        sites = set()
        here = {}
        for op in _inside(situation, backward):
            sites.add(op.site)
            if op.site not in here and _column_and_row(backward.flow, op) is not None:
                here[op.site] = op
        for site in sites:
            met[site] = met.get(site, 0) + 1
        for site, op in here.items():
            hits[site] = hits.get(site, 0) + 1
            found.setdefault(site, (op, backward))
    for site, (op, backward) in found.items():
        if 2 * hits[site] >= met[site]:
            yield _cause(situation, op, backward)


def _inside(situation: Situation, backward: Backward) -> list[Op]:
    """The arithmetic behind a loss, in the order in which it ran."""
    parts = situation.parts(backward)
    numbers = set[int]().union(*(ancestors(backward.flow, root) for root in backward.roots))
    ops = (backward.flow[n] for n in sorted(numbers) if backward.flow[n].name.strip("_") in _ELEMENTWISE)
    return sorted((op for op in ops if parts.behind(op.id)), key=lambda op: op.time)


def _column_and_row(flow: Flow, op: Op) -> tuple[Op, Op] | None:
    """The operands with shapes such as (N, 1) and (N,), if they are broadcast to (N, N)."""
    operands = [flow[i] for i in op.inputs if flow[i].floating or not flow[i].left]
    for one, two in combinations(operands, 2):
        column, row = (one, two) if len(one.shape) > len(two.shape) else (two, one)
        if not row.shape or column.shape != (*row.shape, 1) or column.parameter or row.parameter:
            continue
        wide = _broadcast(column.shape, row.shape)
        if wide is None or prod(wide) <= prod(row.shape):
            continue
        if _on_purpose(flow, op, column):
            continue
        if op.site is not None and op.site.function == "forward" and (column.fresh or row.fresh):
            continue  # a constant of the network's own that happens to be as long as the batch
        return column, row
    return None


def _on_purpose(flow: Flow, op: Op, column: Op) -> bool:
    """``x[:, None] - y``: the extra dimension was asked for in the very same line."""
    if column.site is None or column.site != op.site or column.name.strip("_") not in _WIDENING:
        return False
    return bool(column.inputs) and len(flow[column.inputs[0]].shape) < len(column.shape)


def _broadcast(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...] | None:
    size = max(len(one), len(two))
    a, b = (1,) * (size - len(one)) + one, (1,) * (size - len(two)) + two
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        return None
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def _cause(situation: Situation, op: Op, backward: Backward) -> Cause:
    operands = _column_and_row(backward.flow, op)
    assert operands is not None
    column, row = operands
    wide = _broadcast(column.shape, row.shape) or ()
    keys = situation.parts(backward).behind(op.id) & backward.applied or backward.applied or backward.reached
    steps = (
        Step(f"{_code(column)}: {_shape(column.shape)}", column.site),
        Step(f"{_code(row)}: {_shape(row.shape)}", row.site),
        Step(f"together {_shape(wide)}", op.site, cut=True),
    )
    details = {
        "column": _shape(column.shape),
        "row": _shape(row.shape),
        "wide": _shape(wide),
        "first_is_column": "yes" if op.inputs and op.inputs[0] == column.id else "",
        "loss_function": op.name if op.name in LOSSES else "",
    }
    harmless = _only_averaged(backward, op)
    details["harmless"] = "yes" if harmless else ""
    return Cause(
        "broadcast-loss",
        op.site,
        situation.parameters(keys),
        steps,
        details,
        severity=Severity.NOTE if harmless else Severity.ERROR,
        loss=backward.flow[backward.roots[0]].site,
        first_update=1,
    )


def _only_averaged(backward: Backward, op: Op) -> bool:
    """A sum that only goes into a mean: the mean over N x N is the same as the mean over N."""
    if op.name.strip("_") not in ("add", "radd", "sub", "rsub"):
        return False
    users: dict[int, list[Op]] = {}
    for user in backward.flow.ops.values():
        for i in user.inputs:
            users.setdefault(i, []).append(user)
    here = op
    for _ in range(6):
        following = users.get(here.id, [])
        if len(following) != 1:
            return False
        following_of, here = here.id, following[0]
        name = here.name.strip("_")
        if name == "mean":
            return not here.shape
        scaled = name == "neg" or (name in ("mul", "rmul", "div", "truediv") and len(here.inputs) == 1)
        others = [backward.flow[i] for i in here.inputs if i != following_of]
        added = name in ("add", "radd", "sub", "rsub") and all(not o.shape for o in others)
        if not scaled and not added:
            return False
    return False


def _code(op: Op) -> str:
    return op.site.code if op.site is not None and op.site.code else op.name


def _shape(shape: tuple[int, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else "(" + ", ".join(map(str, shape)) + ")"
