"""A loss that the network has no part in: another network's name, or a value that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
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
            changes = edits.in_place_of(source, value, edits.positional(value)[0])
            told = f"leave out `{edits.called(value)}`: it begins anew"
            yield from case.change(told, source, edits.tidied(source, changes))


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


@cures("surrogate-missing")
def the_log_probability(case: Case) -> Iterator[Candidate]:
    """``action`` in the loss as ``dist.log_prob(action)``, or the reward times it."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    drawn = [source.statement(s.line) for s in case.steps() if source and s.file == case.site.file]
    if source is None or stmt is None:
        return
    for draw in drawn:
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
