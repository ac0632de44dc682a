"""Graphs that are used up, and values that are overwritten before their backward."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source
from whygrad.model import Mark

_OPERATORS = {
    "AddAssign": "+",
    "SubtractAssign": "-",
    "MultiplyAssign": "*",
    "DivideAssign": "/",
    "PowerAssign": "**",
    "MatrixMultiplyAssign": "@",
}


@cures("backward-twice")
def cut_what_is_kept(case: Case) -> Iterator[Candidate]:
    """What is carried from one update to the next, or was stored before them, as a constant."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    value, made = edits.value_of(stmt), edits.targets_of(stmt)
    reads = {edits.name_of(n) for n in source.within(value)} if value is not None else set()
    ends = [source.statement(s.line) for s in case.steps(Mark.BROKEN) if s.file == source.file]
    for name in (n for n in made if n in reads):
        for end in (e for e in ends if e is not None):
            name = _seen_from(case, source, end, name)
            for text in (f"{name} = {name}.detach()", f"{name} = tuple(part.detach() for part in {name})"):
                told = f"cut `{name}` between two updates"
                yield from case.change(told, source, edits.after(end, edits.statement(text)))
    found = [e for e in ends if e is not None]
    yield from _anew_each_time(case, source, stmt)
    if any(source.parent(stmt) is source.parent(end) for end in found):
        yield from _in_one_backward(case, source, stmt, found)  # made anew each time: two losses share it
    else:
        yield from _stored(case, source, stmt)


def _seen_from(case: Case, source: Source, end: Node, name: str) -> str:
    """``self.hidden`` as ``agent.hidden``, where the update is no method of the agent."""
    function = source.function(end)
    inside = function is not None and [p.name.value for p in function.params.params][:1] == ["self"]
    if inside or not name.startswith("self."):
        return name
    owners = (scopes.spoken(source, end, network) for network in case.networks)
    return next((f"{owner}.{name[5:]}" for owner in owners if owner), name)


def _anew_each_time(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """A loss that is made above the loop which differentiates it: made in the loop, with what it needs."""
    loop = next((n for n in source.around(stmt) if isinstance(n, cst.For | cst.While)), None)
    name = next(
        (edits.name_of(edits.owner(c)) for c in source.own(stmt) if edits.called(c) == "backward"), ""
    )
    made = scopes.assigned(source, stmt, name) if name else None
    block = source.block(loop) if loop is not None else []
    if made not in block or loop is None or source.line(made) > source.line(loop):
        return
    first, last = block.index(made), block.index(loop)
    for start in range(first, max(first - 5, -1), -1):
        moved = block[start:last]
        if all(isinstance(s, cst.SimpleStatementLine) and edits.targets_of(s) for s in moved):
            bare = [s.with_changes(leading_lines=[]) for s in moved]
            lead = [*moved[0].leading_lines, *loop.leading_lines]
            body = loop.body.with_changes(body=[*bare, *loop.body.body])
            gone = {s: cst.RemoveFromParent() for s in moved}
            changes = {**gone, loop: loop.with_changes(body=body, leading_lines=lead)}
            yield from case.change(f"make `{name}` anew in the loop", source, changes)


def _stored(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """Old log-probabilities, values, returns: where they are made, or put into a list."""
    value = edits.value_of(stmt)
    if value is not None and not isinstance(value, cst.Tuple):
        yield from case.change("as a constant", source, edits.stopped(source, value, True))
    yield from _without_history(case, source, stmt)
    for call in source.own(stmt):
        if edits.called(call) == "append" and edits.positional(call):
            kept = edits.positional(call)[0]
            yield from case.change("store a constant", source, edits.stopped(source, kept, True))
    for name in edits.targets_of(stmt):
        for use in source.statements:
            if isinstance(use, cst.SimpleStatementLine) and source.line(use) > source.line(stmt):
                for node in source.own(use):
                    if edits.name_of(node) == name and not edits.part_of_name(source, node):
                        told = f"stop `{name}` here"
                        if edits.value_of(use) is not None and name not in edits.targets_of(use):
                            yield from case.change(told, source, edits.stopped(source, node, True))


def _without_history(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """A function that only collects: under ``no_grad``, all that it stores is constant."""
    function = source.function(stmt)
    if function is None or any(edits.called(n) in ("backward", "step") for n in source.within(function)):
        return
    decorator = cst.Decorator(edits.expression("torch.no_grad()"))
    told = f"`@torch.no_grad()` on `{function.name.value}`"
    changed = function.with_changes(decorators=[decorator, *function.decorators])
    yield from case.change(told, source, {function: changed})


def _in_one_backward(case: Case, source: Source, stmt: Node, ends: list[Node]) -> Iterator[Candidate]:
    """Two losses of the same forward pass: the first ``backward`` keeps the graph for the second."""
    for end in ends:
        others = [s for s in source.block(end) if source.line(s) < source.line(end)]
        for first in others:
            for call in source.own(first):
                if edits.called(call) == "backward" and not call.args:
                    args = [cst.Arg(cst.Name("True"), keyword=cst.Name("retain_graph"), equal=_tight())]
                    kept = call.with_changes(args=args)
                    yield from case.change("keep the graph for the second loss", source, {call: kept})


def _tight() -> Node:
    blank = cst.SimpleWhitespace("")
    return cst.AssignEqual(whitespace_before=blank, whitespace_after=blank)


@cures("in-place-modified")
def out_of_place(case: Case) -> Iterator[Candidate]:
    """``x += y`` as ``x = x + y``; ``x.relu_()`` as ``x = x.relu()``; no ``inplace=True``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    match stmt:
        case cst.SimpleStatementLine(body=[cst.AugAssign(target=target, operator=operator, value=value)]):
            sign = _OPERATORS.get(type(operator).__name__)
            if sign and not isinstance(target, cst.Subscript):
                name = source.code(target)
                new = edits.statement(f"{name} = {name} {sign} {edits.atom(source, value)}")
                body = new.body[0]
                yield from case.change("a new value", source, {stmt: stmt.with_changes(body=[body])})
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]):
            if edits.called(call).endswith("_") and edits.name_of(edits.owner(call)):
                name = source.code(edits.owner(call))
                text = f"{name} = {source.code(call).replace(edits.called(call), edits.called(call)[:-1], 1)}"
                body = edits.statement(text).body[0]
                yield from case.change("a new value", source, {stmt: stmt.with_changes(body=[body])})
    for call in source.at(case.site.line, cst.Call):
        inplace = edits.keyword(call, "inplace")
        if inplace is not None:
            yield from case.change("`inplace=False`", source, {inplace.value: cst.Name("False")})


@cures("in-place-modified")
def one_update_after_the_other(case: Case) -> Iterator[Candidate]:
    """The step below the ``backward`` that still needs the weights; or the loss made after the step."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    ends = [source.statement(s.line) for s in case.steps(Mark.BROKEN) if source and s.file == source.file]
    if source is None or stmt is None or not _steps(source, stmt):
        return
    for end in (e for e in ends if e is not None):
        for name in {edits.name_of(edits.owner(c)) for c in source.own(end) if edits.called(c) == "backward"}:
            made = scopes.assigned(source, end, name) if name else None
            if made is not None and source.parent(made) is source.parent(end):
                told = f"make `{name}` after the step"
                if made is not stmt and source.line(made) < source.line(stmt):
                    yield from case.change(told, source, edits.moved(source, made, stmt, below=True))
        if source.parent(end) is source.parent(stmt) and end is not stmt:
            yield from case.change("step after both", source, edits.moved(source, stmt, end, below=True))


def _steps(source: Source, stmt: Node) -> bool:
    return any(edits.called(node) == "step" for node in source.own(stmt))
