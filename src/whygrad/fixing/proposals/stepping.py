"""Steps that are missing, optimizers that are made anew, modes that nobody switches."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source


@cures("no-step")
def a_step(case: Case) -> Iterator[Candidate]:
    """``optimizer.step()`` below the ``backward``; in TensorFlow ``apply_gradients``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    optimizer = scopes.spoken(source, stmt, case.finding.optimizer) if case.finding.optimizer else ""
    if case.in_torch and optimizer and _calls(source, stmt, "backward"):
        new = edits.statement(f"{optimizer}.step()")
        yield from case.change(f"call `{optimizer}.step()`", source, edits.after(stmt, new))
    for call in source.own(stmt):
        if edits.called(call) in ("gradient", "grad") and len(edits.positional(call)) > 1:
            yield from _applied(case, source, stmt, call, optimizer)


def _applied(case: Case, source: Source, stmt: Node, call: Node, optimizer: str) -> Iterator[Candidate]:
    grads, asked = edits.targets_of(stmt), source.code(edits.positional(call)[1])
    if not grads or not optimizer:
        return
    if not case.in_torch:
        new = edits.statement(f"{optimizer}.apply_gradients(zip({grads[0]}, {asked}))")
        yield from case.change("apply the gradients", source, edits.after(stmt, new))
        return
    loop = edits.lines(f"for p, g in zip({asked}, {grads[0]}):\n    p.grad = g\n")
    steps = [s for s in scopes.function_lines(source, stmt) if _calls(source, s, "step")]
    if any(source.line(s) > source.line(stmt) for s in steps):
        yield from case.change("hand the gradients to the optimizer", source, edits.after(stmt, *loop))


def _calls(source: Source, stmt: Node, name: str) -> bool:
    return any(edits.called(node) == name for node in source.own(stmt))


@cures("unexplained")
def a_backward(case: Case) -> Iterator[Candidate]:
    """``loss.backward()`` before a step that has nothing to use."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None or not case.in_torch or not _calls(source, stmt, "step"):
        return
    for name in scopes.unread(source, stmt):
        if "loss" in name.lower():
            new = edits.statement(f"{name}.backward()")
            yield from case.change(f"call `{name}.backward()`", source, edits.before(stmt, new))


@cures("optimizer-recreated")
def made_once(case: Case) -> Iterator[Candidate]:
    """The line that makes the optimizer out of the function, above it; in a method, into ``__init__``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    function = source.function(stmt) if source and stmt is not None else None
    if source is None or stmt is None or function is None:
        return
    bare, gone = stmt.with_changes(leading_lines=[]), edits.without(source, stmt)
    made = {*edits.targets_of(stmt)}
    given = {p.name.value for p in function.params.params} & made
    others = [s for s in source.statements if s is not stmt and source.function(s) is not function]
    there = [s for s in others if isinstance(s, cst.SimpleStatementLine) and made & {*edits.targets_of(s)}]
    if given or any(source.function(s) is None or "." in "".join(made) for s in there):
        yield from case.change("keep the one that is there", source, gone)
    beginning = next((s for s in _classmates(source, function) if s.name.value == "__init__"), None)
    name = next(iter(edits.targets_of(stmt)), "")
    if beginning is not None:
        last = beginning.body.body[-1]
        if name and "." not in name:
            return
        yield from case.change("make it once, in `__init__`", source, {**gone, **edits.after(last, bare)})
        return
    if source.function(function) is None and not _inside(source, function, gone):
        yield from _above(case, source, function, stmt, bare)


def _inside(source: Source, function: Node, changes: edits.Changes) -> bool:
    return function in changes


def _above(case: Case, source: Source, function: Node, stmt: Node, bare: Node) -> Iterator[Candidate]:
    """The function without the line, and the line above it."""
    shorter = _Without(source, stmt).apply(function)
    lead = bare.with_changes(leading_lines=function.leading_lines)
    blank = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    below = shorter.with_changes(leading_lines=blank)
    changes = {function: cst.FlattenSentinel([lead, below])}
    yield from case.change("make it once, above the function", source, changes)


class _Without(cst.CSTTransformer):
    """A function without one of its statements."""

    def __init__(self, source: Source, stmt: Node) -> None:
        super().__init__()
        self._changes = edits.without(source, stmt)

    def apply(self, function: Node) -> Node:
        return function.visit(self)

    def on_leave(self, original: Node, updated: Node) -> Node:
        return self._changes.get(original, updated)


def _classmates(source: Source, function: Node) -> list[Node]:
    home = source.parent(source.parent(function))
    return [s for s in source.block(function) if isinstance(s, cst.FunctionDef)] if _is_class(home) else []


def _is_class(node: Node | None) -> bool:
    return isinstance(node, cst.ClassDef)


@cures("wrong-mode")
def switched(case: Case) -> Iterator[Candidate]:
    """``net.train()`` where the update begins, and ``net.eval()`` before it acts."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None or not case.networks:
        return
    network = scopes.spoken(source, stmt, case.networks[0])
    acts = "acts in train mode" in case.finding.title
    for site in case.losses():
        loss = source.statement(site.line) if site.file == source.file else None
        here = scopes.spoken(source, loss, case.networks[0]) if loss is not None else ""
        if loss is None or not here or not network:
            continue
        begin = _begin(source, loss)
        train = edits.before(begin, edits.statement(f"{here}.train()"))
        if acts and begin is not stmt:
            off = edits.before(stmt, edits.statement(f"{network}.eval()"))
            yield from case.change("switch before acting, and back", source, {**train, **off})
        elif not acts:
            yield from case.change(f"`{here}.train()` before the update", source, train)
    if acts and network:
        off = edits.before(stmt, edits.statement(f"{network}.eval()"))
        yield from case.change(f"`{network}.eval()` before it acts", source, off)


def _begin(source: Source, loss: Node) -> Node:
    """The first statement of the function of the loss, or of the loop in which it stands."""
    function = source.function(loss)
    if function is not None:
        body = list(function.body.body)
        described = function.get_docstring() is not None
        return body[1] if described and len(body) > 1 else body[0]
    return source.block(loss)[0]
