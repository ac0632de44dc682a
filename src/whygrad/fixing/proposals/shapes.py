"""Shapes that met by broadcasting: one side brought to the shape of the other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source

_RESHAPES = ("squeeze", "unsqueeze", "flatten", "view", "reshape")


@cures("broadcast-loss")
def one_shape(case: Case) -> Iterator[Candidate]:
    """A reshaping taken away, or one put on: first where a line says the wide shape itself."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    yield from _of_the_action(case, source, stmt)
    yield from _without_reshape(case, source, stmt)
    if _single(case):
        yield from _per_row(case, source)
        return
    for node in _operands(source, stmt):
        for text in _squeezed(case, source, node):
            yield from case.change(f"`{text}`", source, edits.written(source, node, text))


def _of_the_action(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """The value of the action that was taken, where the finding names both."""
    for text in re.findall(r"`([^`]*gather[^`]*)`", case.finding.fix):
        made = edits.expression(text)
        values = edits.owner(made) if edits.name_of(edits.owner(made)) not in ("tf", "torch") else None
        if values is None and made is not None and edits.positional(made):
            values = edits.positional(made)[0]
        for node in source.own(stmt):
            if values is not None and edits.name_of(node) and edits.name_of(node) == edits.name_of(values):
                yield from case.change(f"`{text}`", source, edits.written(source, node, text))


def _single(case: Case) -> bool:
    return re.search(r": \(\) met", case.finding.title) is not None


def _per_row(case: Case, source: Source) -> Iterator[Candidate]:
    """``critic(states).mean()`` as a value for each row."""
    for site in case.steps():
        for call in source.at(site.line, cst.Call) if site.file == source.file else ():
            given = edits.positional(call)
            if edits.called(call) in ("reduce_mean", "reduce_sum", "reduce_max") and len(call.args) == 1:
                yield from case.change(
                    "one value for each row", source, edits.written(source, call, source.code(given[0]))
                )
            if edits.called(call) in ("mean", "sum", "max") and not call.args:
                text = f"{source.code(call)[:-1]}-1)"
                yield from case.change("one value for each row", source, edits.written(source, call, text))


def _without_reshape(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    for node in source.own(stmt):
        inner = _reshaped(node)
        if inner is not None:
            told = f"`{source.code(inner)}` as it is"
            yield from case.change(told, source, edits.in_place_of(source, node, inner))


def _reshaped(node: Node) -> Node | None:
    """What is given another shape here."""
    if edits.called(node) in _RESHAPES and isinstance(node, cst.Call):
        held = edits.owner(node)
        if edits.name_of(held) in ("torch", "tf"):
            return edits.positional(node)[0] if edits.positional(node) else None
        return held
    if isinstance(node, cst.Subscript) and any("None" in _code(part) for part in node.slice):
        return node.value
    return None


def _code(part: Node) -> str:
    return cst.Module([]).code_for_node(part)


def _operands(source: Source, stmt: Node) -> list[Node]:
    """The two sides of the operation: of a difference or a sum, or the arguments of a loss function."""
    found: list[Node] = []
    for node in source.own(stmt):
        match node:
            case cst.BinaryOperation(operator=cst.Subtract() | cst.Add(), left=left, right=right):
                found += [left, right]
            case cst.Call() if len(edits.positional(node)) == 2 and "loss" in source.code(node.func).lower():
                found += edits.positional(node)
    found = [n for n in found if not isinstance(n, cst.Integer | cst.Float)]
    return sorted(dict.fromkeys(found), key=lambda n: isinstance(n, cst.BinaryOperation))


def _squeezed(case: Case, source: Source, node: Node) -> Iterator[str]:
    """As a row, if it is called a column in the chain, else as a column; in the words of the framework."""
    x = edits.atom(source, node)
    row = f"{x}.squeeze(-1)" if case.in_torch else f"tf.squeeze({source.code(node)}, axis=-1)"
    column = f"{x}.unsqueeze(-1)" if case.in_torch else f"{x}[..., None]"
    wide = _is_column(case, source, node)
    if wide is not False:
        yield row
    if wide is not True:
        yield column


def _is_column(case: Case, source: Source, node: Node) -> bool | None:
    """Does a line of the chain say that it ends in 1? Nothing where none speaks of it."""
    name = edits.name_of(node)
    for step in case.finding.chain:
        told = re.search(r": \(([\d, N]+)\)$", step.what)
        if told and step.site and name:
            stmt = source.statement(step.site.line) if step.site.file == source.file else None
            if stmt is not None and name in edits.targets_of(stmt):
                return told[1].replace(" ", "").endswith(",1")
    return None
