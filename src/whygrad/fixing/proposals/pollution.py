"""A loss that trains a network which is not its own: it is kept out of that loss, and out of no other."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source
from whygrad.model import Mark


@cures("polluted-gradient")
def stopped_in_this_loss(case: Case) -> Iterator[Candidate]:
    """What the network has computed, as a constant in the loss that is not its own."""
    for site in dict.fromkeys([*case.steps(Mark.LEAK), case.site]):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        value = edits.value_of(stmt) if stmt is not None else None
        if source is None or value is None:
            continue
        sums = [n for n in source.within(value) if isinstance(n, cst.BinaryOperation) and n.lpar]
        names = [n for n in source.within(value) if isinstance(n, cst.Name) and _stands_alone(source, n)]
        for node in (*sums, *names):
            told = f"stop `{source.code(node)}` in this loss"
            yield from case.change(told, source, edits.stopped(source, node, case.in_torch))


def _stands_alone(source: Source, node: Node) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.BinaryOperation | cst.Arg) and not edits.part_of_name(source, node)


@cures("polluted-gradient")
def held_still(case: Case) -> Iterator[Candidate]:
    """``critic.requires_grad_(False)`` while the other network's loss is computed, and on again."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None or not case.in_torch:
        return
    names = [n.value for n in source.own(stmt) if isinstance(n, cst.Name)]
    made = [scopes.assigned(source, stmt, name) for name in dict.fromkeys(names)]
    for loss in dict.fromkeys(m for m in made if m is not None and isinstance(m, cst.SimpleStatementLine)):
        for network in case.networks:
            said = scopes.spoken(source, loss, network)
            if said and any(edits.name_of(n) == said for n in source.own(loss)):
                off = edits.statement(f"{said}.requires_grad_(False)").with_changes(
                    leading_lines=loss.leading_lines
                )
                on = edits.statement(f"{said}.requires_grad_(True)")
                both = cst.FlattenSentinel([off, loss.with_changes(leading_lines=[]), on])
                told = f"hold `{said}` still while `{edits.targets_of(loss)[0]}` is computed"
                yield from case.change(told, source, {loss: both})
