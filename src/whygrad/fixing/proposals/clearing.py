"""Gradients that are cleared or clipped at the wrong moment: the line moved, or put there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source


@cures("zero-grad-missing", "polluted-gradient", "gradient-handover")
def clear(case: Case) -> Iterator[Candidate]:
    """``optimizer.zero_grad()`` right before the ``backward``."""
    for site in dict.fromkeys([case.site, *case.steps()]):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None or not _has(source, stmt, "backward"):
            continue
        asked = re.search(r"`([\w.\[\]]+)\.zero_grad\(\)`", case.finding.fix)
        names = [case.finding.optimizer, *([asked[1]] if asked else []), *case.networks]
        for name in names:
            said = scopes.spoken(source, stmt, name) if name else ""
            if said:
                new = edits.statement(f"{said}.zero_grad()")
                told = f"`{said}.zero_grad()` before the backward"
                yield from case.change(told, source, edits.before(stmt, new))


def _has(source: Source, stmt: Node, *names: str) -> bool:
    return any(edits.called(node) in names for node in source.own(stmt))


@cures("zero-grad-before-step")
def clear_first(case: Case) -> Iterator[Candidate]:
    """The clearing above the ``backward``."""
    yield from _moved(case, ("backward",), below=False)
    yield from _moved(case, ("step",), below=True)


@cures("clip-after-step")
def clip_first(case: Case) -> Iterator[Candidate]:
    """The clip above the step."""
    yield from _moved(case, ("step", "apply_gradients"), below=False)


@cures("clip-before-backward")
def clip_later(case: Case) -> Iterator[Candidate]:
    """The clip below the ``backward``."""
    yield from _moved(case, ("backward", "gradient"), below=True)


def _moved(case: Case, names: tuple[str, ...], below: bool) -> Iterator[Candidate]:
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    around = [stmt, *(n for n in source.around(stmt) if isinstance(n, cst.BaseCompoundStatement))]
    for site in case.steps():
        to = source.statement(site.line) if site.file == source.file else None
        if to is None or to is stmt or not _has(source, to, *names):
            continue
        if below and source.parent(to) is not source.parent(stmt) and to not in source.within(stmt):
            bare = stmt.with_changes(leading_lines=[])
            told = f"move it below `{source.code(to)}`"
            if not any(n is stmt for n in source.around(to)) and isinstance(to, cst.SimpleStatementLine):
                changes = {**edits.without(source, stmt), **edits.after(to, bare)}
                yield from case.change(told, source, changes)
        whole = next((n for n in around if source.parent(n) is source.parent(to)), None)
        if whole is not None and whole is not to:
            told = f"move it {'below' if below else 'above'} `{source.code(to)}`"
            yield from case.change(told, source, edits.moved(source, whole, to, below))


@cures("clip-unused")
def use_the_clipped(case: Case) -> Iterator[Candidate]:
    """``clamp`` in place; or the clipped list where the raw one is applied."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for call in source.own(stmt):
        if case.in_torch and edits.called(call) in ("clamp", "clip") and edits.owner(call) is not None:
            new = call.func.with_changes(attr=cst.Name(f"{edits.called(call)}_"))
            yield from case.change("clip in place", source, {call.func: new})
    clipped = edits.targets_of(stmt)
    value = edits.value_of(stmt)
    if not clipped or value is None:
        return
    raw = {n.value for n in source.within(value) if isinstance(n, cst.Name)} - {*clipped}
    for use in scopes.function_lines(source, stmt):
        if source.line(use) > source.line(stmt) and _has(source, use, "apply_gradients", "zip", "step"):
            for name in sorted(raw):
                changes = edits.renamed(source, source.own(use), name, clipped[0])
                yield from case.change(f"apply `{clipped[0]}`", source, changes)
