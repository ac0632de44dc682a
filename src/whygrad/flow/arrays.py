"""Arithmetic on arrays between a network and a loss: nobody sees it run, so it is read in the source text.

``y = r + gamma * np.max(target.predict(s2), axis=1)``: what leaves the framework is known with its line, and
what comes back enters a comparison as plain data. If the source says that one is made of the other, the flow
goes on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from whygrad.flow.array_source import Reader, Scope, array_expressions
from whygrad.flow.source import is_library
from whygrad.model import Backward, Flow, Kind, Op, Site
from whygrad.model.kinds import SAME_NUMBERS

_PASSED = SAME_NUMBERS | {Kind.STOP, Kind.CONVERT, Kind.ASK}
_NEAR = 6  # operations between what comes in and the comparison
_MOST = 8  # values that are looked for in the source


def with_arrays(backward: Backward, living: Iterable[int]) -> Flow:
    """The flow behind a loss; data on the other side of a comparison is what the source says that it is."""
    flow = backward.flow
    exits = [flow[number] for number in backward.exits if flow[number].site is not None]
    ends = [flow[number] for number in backward.ends if flow[number].site is not None]
    if not exits and not ends:
        return flow
    reader = Reader(flow, exits, ends)
    for number, places in _data(flow, living):
        top = _read(reader, flow, places, living)
        if top is not None:
            reader.ops[number] = replace(
                flow[number], inputs=(top,), fresh=False, via="source", kind=Kind.COPY, carries=False
            )
    return Flow({**flow.ops, **reader.ops}) if reader.ops else flow


def _data(flow: Flow, living: Iterable[int]) -> Iterator[tuple[int, list[tuple[Site, ...]]]]:
    """Data that predictions are compared with, and the lines on which it comes in or is used."""
    found: dict[int, list[tuple[Site, ...]]] = {}
    for number in sorted(living):
        op = flow[number]
        if op.kind not in (Kind.SUBTRACT, Kind.LOSS) or len(op.inputs) < 2:
            continue
        for side in op.inputs[:2]:
            leaf = _leaf(flow, side)
            if leaf is not None and len(found) < _MOST:
                places = [(o.site, *o.callers) for o in (leaf, op) if o.site is not None]
                found.setdefault(leaf.id, places)
    yield from found.items()


def _leaf(flow: Flow, start: int) -> Op | None:
    """Plain data at the end of casts and reshapes."""
    op = flow[start]
    for _ in range(_NEAR):
        if op.parameter is not None or not op.floating or op.carries:
            return None
        if op.fresh or not op.inputs:
            outside = all(flow[i].left for i in op.inputs)
            return op if outside and not op.numbers and op.shape != () else None
        if op.kind not in _PASSED:
            return None
        op = flow[op.inputs[0]]
    return None


def _read(reader: Reader, flow: Flow, places: list[tuple[Site, ...]], living: Iterable[int]) -> int | None:
    """The value that the source says this data is, if it says it of one expression only."""
    lines = frozenset((s.file, s.line) for n in living if (s := flow[n].site) is not None)
    for sites in places:
        theirs = [site for site in sites if not is_library(site.file)]
        scope = Scope.at(theirs, lines) if theirs else None
        if scope is None:
            continue
        found: dict[str, int] = {}
        for expression in array_expressions(scope):
            top = reader.read(expression, scope)
            if top is not None:
                found.setdefault(ast.dump(expression), top)
        if len(found) == 1:
            return next(iter(found.values()))
    return None
