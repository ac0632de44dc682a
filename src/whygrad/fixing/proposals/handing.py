"""What is written and never done: gradients that nobody hands over, functions that nobody calls."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source


@cures("gradient-handover")
def handed_over(case: Case) -> Iterator[Candidate]:
    """``g = local.grad`` as ``shared.grad = local.grad``; or the loop that does it, before the step."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    yield from _in_the_loop(case, source, stmt)
    steps = [s for s in scopes.function_lines(source, stmt) if _calls(source, s, "step")]
    for step in (s for s in steps if source.line(s) > source.line(stmt)):
        for to in case.networks:
            for of in case.other_networks:
                mine, theirs = scopes.spoken(source, step, to), scopes.spoken(source, step, of)
                if mine and theirs:
                    head = f"for p, copy in zip({mine}.parameters(), {theirs}.parameters()):"
                    loop = edits.lines(f"{head}\n    p.grad = copy.grad.clone()\n")
                    told = f"hand the gradients of `{theirs}` to `{mine}`"
                    yield from case.change(told, source, edits.before(step, *loop))


def _in_the_loop(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """The other of the two names that the loop walks over takes the gradient."""
    loop = next((n for n in source.around(stmt) if isinstance(n, cst.For)), None)
    value = edits.value_of(stmt)
    if loop is None or value is None or not isinstance(loop.target, cst.Tuple):
        return
    said = source.code(value)
    names = [edits.name_of(e.value) for e in loop.target.elements]
    held = [name for name in names if said == f"{name}.grad"]
    for other in (n for n in names if held and n and n not in held):
        new = edits.statement(f"{other}.grad = {said}.clone()")
        whole = stmt.with_changes(body=new.body)
        yield from case.change(f"hand it to `{other}`", source, {stmt: whole})


def _calls(source: Source, stmt: Node, *names: str) -> bool:
    return any(edits.called(node) in names for node in source.own(stmt))


@cures("no-step", "gradient-handover")
def call_what_nobody_calls(case: Case) -> Iterator[Candidate]:
    """A function that applies gradients and is called nowhere: where its arguments are there."""
    source = case.source
    if source is None:
        return
    for function in scopes.uncalled(source, lambda f: _applies(source, f)):
        names = [p.name.value for p in function.params.params]
        text = f"{function.name.value}({', '.join(names)})"
        if names[:1] == ["self"]:
            continue
        for stmt in source.statements:
            if not isinstance(stmt, cst.SimpleStatementLine) or source.function(stmt) is function:
                continue
            known = {*scopes.given_above(source, stmt)}
            if known >= {*names} and _calls(source, stmt, "step"):
                call = edits.before(stmt, edits.statement(text))
                yield from case.change(f"call `{text}`", source, call)
            elif names and {*edits.targets_of(stmt)} >= {*names}:
                call = edits.after(stmt, edits.statement(text))
                yield from case.change(f"call `{text}`", source, call)


def _applies(source: Source, function: Node) -> bool:
    """Does it write a gradient, or step?"""
    for node in source.within(function):
        if edits.called(node) in ("step", "apply_gradients"):
            return True
        if isinstance(node, cst.AssignTarget) and edits.name_of(node.target).endswith(".grad"):
            return True
    return False
