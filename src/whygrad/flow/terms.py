"""The addends of a loss: policy term, value term, entropy bonus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from whygrad.flow.layers import adds_bias
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import REDUCTIONS, SAME_NUMBERS, SCALES, SUMS

_SAME = SAME_NUMBERS | {Kind.NEGATE}
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
        deeper = _inside(flow, op)
        if deeper is None:
            found.append(Term(op, scalar))
            continue
        inner = scalar and not (op.kind in REDUCTIONS and any(flow[i].shape for i in deeper))
        if scalar and not inner and not deep:
            found.append(Term(op, scalar))
            continue
        todo.extend((i, inner) for i in deeper)
    return found


def products(flow: Flow, roots: Iterable[int]) -> Iterator[Op]:
    """The products of two values, row by row, that a loss adds up: whatever they are made of."""
    todo, seen = list(roots), set[int]()
    while todo and len(seen) < _MOST:
        op = flow[todo.pop()]
        if op.id in seen:
            continue
        seen.add(op.id)
        if op.kind is Kind.MULTIPLY and len(op.inputs) == 2 and prod(op.shape) > 1:
            yield op
        else:
            todo.extend(_inside(flow, op) or ())


def _inside(flow: Flow, op: Op) -> list[int] | None:
    """The inputs to go on with, or nothing if the operation is a term by itself."""
    if op.fresh or op.parameter is not None or not op.inputs or _adds_bias(flow, op):
        return None
    if op.kind in SUMS or op.kind is Kind.JOIN:
        return list(op.inputs)
    if op.kind in REDUCTIONS or op.kind in _SAME:
        return list(op.inputs[:1])
    if op.kind in SCALES:
        tensors = [i for i in op.inputs if not _constant(flow[i])]
        return tensors if len(tensors) == 1 else None
    return None


def _adds_bias(flow: Flow, op: Op) -> bool:
    return isinstance(flow, Flow) and adds_bias(flow, op)


def _constant(op: Op) -> bool:
    """A number or plain data."""
    return not op.inputs and op.parameter is None


def written(flow: Flow, term: Term) -> object:
    """What two terms have in common if the user wrote them once, in a loop or in the next update.

    Two means in one line are told apart by what goes into them.
    """
    made_of = frozenset((op.site, op.name) for op in _ingredients(flow, term.op))
    return term.op.site, term.op.name, term.scalar, made_of


def _ingredients(flow: Flow, op: Op) -> Iterator[Op]:
    """What goes into a term, past stacks, shapes and signs: they look the same in every term."""
    todo, seen = list(op.inputs), set[int]()
    while todo and len(seen) < _MOST:
        here = flow[todo.pop()]
        if here.id in seen:
            continue
        seen.add(here.id)
        if (here.kind is Kind.JOIN or here.kind in _SAME) and here.inputs:
            todo.extend(here.inputs)
        else:
            yield here


def loss_op(flow: Flow, root: int, line: int | None) -> Op:
    """The operation whose value is the loss: past scaling that is written in the ``backward`` line."""
    op = flow[root]
    while op.site is not None and op.site.line == line and len(op.inputs) >= 1 and not op.fresh:
        inside = [i for i in op.inputs if not _constant(flow[i])]
        if op.kind not in SCALES | _SAME | REDUCTIONS or len(inside) != 1:
            break
        below = flow[inside[0]]
        if below.site is None or below.parameter is not None:
            break
        op = below
    return op
