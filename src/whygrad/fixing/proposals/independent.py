"""A loss that the network has no part in: another network's name, or a value that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals import values
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source


@cures("loss-independent", "fake-root")
def without_a_new_root(case: Case) -> Iterator[Candidate]:
    """``Variable(loss, requires_grad=True)`` and ``torch.tensor(loss, requires_grad=True)`` as ``loss``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for where in (stmt, *(s for s in scopes.function_lines(source, stmt) if edits.targets_of(s))):
        value = edits.value_of(where)
        if edits.called(value) not in ("Variable", "tensor", "as_tensor") or not edits.positional(value):
            continue
        if edits.keyword(value, "requires_grad") is not None:
            told = f"leave out `{edits.called(value)}`: it begins anew"
            inner = edits.positional(value)[0]
            for new in (inner, edits.expression(values.inside(case, source, inner)), _living(inner)):
                if new is not None:
                    changes = edits.in_place_of(source, value, new)
                    yield from case.change(told, source, edits.tidied(source, changes))


def _living(node: Node) -> Node | None:
    """``loss`` of ``loss.data``."""
    match node:
        case cst.Attribute(value=value, attr=cst.Name(value="data")):
            return value
    return None


@cures("loss-independent", "wrong-variables")
def the_right_network(case: Case) -> Iterator[Candidate]:
    """Its name where another network's stands, in the statement and then in those before it."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    above = [s for s in scopes.function_lines(source, stmt) if source.line(s) < source.line(stmt)]
    for where in (stmt, *reversed(above[-6:])):
        for wrong in case.other_networks:
            for right in case.networks:
                old, new = scopes.spoken(source, where, wrong), scopes.spoken(source, where, right)
                if old and new and old != new:
                    changes = edits.renamed(source, source.own(where), old, new)
                    yield from case.change(f"`{new}` instead of `{old}`", source, changes)


@cures("detached", "loss-independent", "wrong-variables")
def the_right_list(case: Case) -> Iterator[Candidate]:
    """``tape.gradient(critic_loss, actor...)`` and the ``zip`` below it, for another network."""
    source = case.source
    if source is None or case.in_torch:
        return
    names = {name for s in case.steps() if s.file == source.file for name in _assigned_at(source, s.line)}
    for stmt in source.statements:
        asks = [c for c in source.own(stmt) if edits.called(c) == "gradient" and edits.positional(c)]
        if not asks or edits.name_of(edits.positional(asks[0])[0]) not in names:
            continue
        applied = [s for s in source.block(stmt) if source.line(s) > source.line(stmt)][:1]
        for wrong in case.networks:
            for right in case.other_networks:
                old, new = scopes.spoken(source, stmt, wrong), scopes.spoken(source, stmt, right)
                if old and new and old != new:
                    nodes = [n for s in (stmt, *applied) for n in source.own(s)]
                    changes = edits.renamed(source, nodes, old, new)
                    yield from case.change(f"the variables of `{new}`", source, changes)


@cures("loss-independent")
def the_right_loss(case: Case) -> Iterator[Candidate]:
    """``tape.gradient(critic_loss, actor...)``: another loss that is known there."""
    source = case.source
    for stmt in source.statements if source is not None and not case.in_torch else ():
        for call in source.own(stmt) if source is not None else ():
            given = edits.positional(call) if edits.called(call) == "gradient" else []
            if source is None or len(given) < 2 or not edits.name_of(given[0]):
                continue
            asked = source.code(given[1])
            if not any(
                said and said in asked for said in (scopes.spoken(source, stmt, n) for n in case.networks)
            ):
                continue
            beside = [n for s in source.statements for n in _beside(source, s, edits.name_of(given[0]))]
            for name in dict.fromkeys(beside):
                made = edits.written(source, given[0], name)
                yield from case.change(f"the gradient of `{name}`", source, made)


def _beside(source: Source, stmt: Node, name: str) -> list[str]:
    """The names that are given a value together with this one."""
    if isinstance(stmt, cst.SimpleStatementLine) and name in (made := edits.targets_of(stmt)):
        return [other for other in made if other != name]
    return []


def _assigned_at(source: Source, line: int) -> list[str]:
    stmt = source.statement(line)
    return edits.targets_of(stmt) if stmt is not None else []


@cures("loss-independent", "surrogate-missing")
def a_forgotten_value(case: Case) -> Iterator[Candidate]:
    """A value of this function that nobody reads: in the place of another name, or as a term more."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    if edits.value_of(stmt) is None:  # ``loss.requires_grad_()``: where that loss is made
        held = next(
            (edits.name_of(edits.owner(c)) for c in source.own(stmt) if edits.owner(c) is not None), ""
        )
        stmt = (scopes.assigned(source, stmt, held) if held else None) or stmt
    networks = [scopes.spoken(source, stmt, name) for name in case.networks]
    left = [name for network in networks if network for name in scopes.forgotten(source, stmt, network)]
    for name in dict.fromkeys([*scopes.unread(source, stmt), *reversed(left)]):
        made = scopes.assigned(source, stmt, name)
        if made is None or source.line(made) >= source.line(stmt):
            continue
        if case.finding.rule == "loss-independent":
            yield from _as_a_term(case, source, stmt, name)
            yield from _in_place_of_a_name(case, source, stmt, name)
        else:
            yield from _as_a_factor(case, source, stmt, name)


def _as_a_term(case: Case, source: Source, stmt: Node, name: str) -> Iterator[Candidate]:
    value = edits.value_of(stmt)
    if "loss" in name.lower() and value is not None and edits.called(stmt) == "":
        text = f"{source.code(value)} + {name}"
        yield from case.change(f"add `{name}` to the loss", source, edits.written(source, value, text))


def _in_place_of_a_name(case: Case, source: Source, stmt: Node, name: str) -> Iterator[Candidate]:
    """Where the two names are alike, as ``actions`` and ``new_actions``: one was meant to be the other."""
    found = [n for n in source.own(stmt) if isinstance(n, cst.Name) and isinstance(source.parent(n), cst.Arg)]
    for node in found:
        alike = len(node.value) > 1 and (node.value in name or name in node.value)
        if alike and not edits.part_of_name(source, node):
            made = edits.written(source, node, name)
            yield from case.change(f"`{name}` instead of `{node.value}`", source, made)


def _as_a_factor(case: Case, source: Source, stmt: Node, name: str) -> Iterator[Candidate]:
    """``mean(reward)`` as ``mean(log_prob * reward)``."""
    for node in source.own(stmt):
        if isinstance(node, cst.Name) and isinstance(source.parent(node), cst.Arg):
            text = f"{name} * {node.value}"
            yield from case.change(f"multiply with `{name}`", source, edits.written(source, node, text))
        held = edits.owner(node) if edits.called(node) in ("mean", "sum") else None
        if isinstance(held, cst.Name):
            text = f"({name} * {held.value})"
            yield from case.change(f"multiply with `{name}`", source, edits.written(source, held, text))


@cures("surrogate-missing")
def the_log_probability(case: Case) -> Iterator[Candidate]:
    """``action`` in the loss as ``dist.log_prob(action)``, or the reward times it."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    above = [s for s in scopes.function_lines(source, stmt) if source.line(s) < source.line(stmt)]
    named = [source.statement(s.line) for s in case.steps() if s.file == case.site.file]
    for draw in dict.fromkeys([*named, *reversed(above)]):
        call = edits.value_of(draw) if draw is not None else None
        if edits.called(call) not in ("sample", "rsample") or not edits.targets_of(draw):
            continue
        action, dist = edits.targets_of(draw)[0], source.code(edits.owner(call))
        text = f"{dist}.log_prob({action})"
        for node in source.own(stmt):
            if edits.name_of(node) == action and not edits.part_of_name(source, node):
                whole = _with_cast(source, node)
                told = "the log-probability of the action"
                yield from case.change(told, source, edits.written(source, whole, text))


def _with_cast(source: Source, node: Node) -> Node:
    """``action.float()`` for ``action``."""
    outer = source.parent(source.parent(node))
    return outer if edits.called(outer) == "float" and edits.owner(outer) is node else node
