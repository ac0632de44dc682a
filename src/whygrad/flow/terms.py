"""The addends of a loss: policy term, value term, entropy bonus."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.flow.layers import adds_bias
from whygrad.model import Flow, Op

_SUMS = frozenset(("add", "sub", "rsub", "radd", "iadd", "isub", "stack", "cat", "concat", "hstack"))
_SAME = frozenset(
    (
        "neg",
        "squeeze",
        "unsqueeze",
        "view",
        "reshape",
        "flatten",
        "clone",
        "to",
        "float",
        "double",
        "contiguous",
        "cast",
    )
)
_SCALE = frozenset(("mul", "div", "rmul", "rdiv", "truediv", "rtruediv", "imul", "itruediv", "multiply"))
_REDUCE = frozenset(("mean", "sum", "nanmean", "nansum"))
_MOST = 4000


@dataclass(frozen=True, slots=True)
class Term:
    """One addend. ``scalar`` is true while no mean or sum lies between it and the loss."""

    op: Op
    scalar: bool


def terms(flow: Flow, root: int, deep: bool = True) -> list[Term]:
    """The addends that a loss is made of, through sums, signs and constant factors.

    ``deep`` goes on through means: ``(alpha * logp - q).mean()`` has two terms then, else one.
    """
    found: list[Term] = []
    todo = [(root, True)]
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        here, scalar = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        op = flow[here]
        name = op.name.strip("_")
        deeper = _inside(flow, op, name)
        if deeper is None:
            found.append(Term(op, scalar))
            continue
        inner = scalar and not (name in _REDUCE and any(flow[i].shape for i in deeper))
        if scalar and not inner and not deep:
            found.append(Term(op, scalar))
            continue
        todo.extend((i, inner) for i in deeper)
    return found


def _inside(flow: Flow, op: Op, name: str) -> list[int] | None:
    """The inputs to go on with, or nothing if the operation is a term by itself."""
    if op.fresh or op.parameter is not None or not op.inputs or _adds_bias(flow, op):
        return None
    if name in _SUMS:
        return list(op.inputs)
    if name in _REDUCE or name in _SAME:
        return list(op.inputs[:1])
    if name in _SCALE:
        tensors = [i for i in op.inputs if not _constant(flow[i])]
        return tensors if len(tensors) == 1 else None
    return None


def _adds_bias(flow: Flow, op: Op) -> bool:
    return isinstance(flow, Flow) and adds_bias(flow, op)


def _constant(op: Op) -> bool:
    """A number or plain data."""
    return not op.inputs and op.parameter is None


def loss_op(flow: Flow, root: int, line: int | None) -> Op:
    """The operation whose value is the loss: past scaling that is written in the ``backward`` line."""
    op = flow[root]
    while op.site is not None and op.site.line == line and len(op.inputs) >= 1 and not op.fresh:
        name = op.name.strip("_")
        inside = [i for i in op.inputs if not _constant(flow[i])]
        if name not in _SCALE | _SAME | _REDUCE or len(inside) != 1:
            break
        below = flow[inside[0]]
        if below.site is None or below.parameter is not None:
            break
        op = below
    return op
