"""Losses that say something else than they should: signs, shapes, axes, probabilities for logits."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source


@cures("value-sign")
def the_missing_minus(case: Case) -> Iterator[Candidate]:
    """A minus before the loss; or the actions that were taken instead of new ones."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    if "drawn anew" in case.finding.title:
        yield from _taken_actions(case, source, stmt)
        return
    value = edits.value_of(stmt)
    if value is None:
        return
    addends = list(_addends(value))
    if len(addends) == 1:
        yield from case.change("a minus before it", source, edits.negated(source, value))
        return
    for sign, term in addends:  # the whole sum would turn the other terms round as well
        told = f"the other sign of `{source.code(term)}`"
        if sign is None:
            yield from case.change(told, source, edits.negated(source, term))
        else:
            other = cst.Subtract if isinstance(sign, cst.Add) else cst.Add
            new = other(sign.whitespace_before, sign.whitespace_after)
            yield from case.change(told, source, {sign: new})


def _addends(value: Node) -> Iterator[tuple[Node | None, Node]]:
    """The terms of a sum, each with the sign that stands before it; the first has none."""
    match value:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() as sign, right=right):
            yield from _addends(left)
            yield sign, right
        case _:
            yield None, value


def _taken_actions(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """``log_prob(dist.sample())`` as ``log_prob(action)``, where ``action = dist.sample()`` stands above."""
    for call in source.own(stmt):
        if edits.called(call) != "sample":
            continue
        for other in reversed(scopes.function_lines(source, stmt)):
            value = edits.value_of(other)
            if value is None or source.line(other) >= source.line(stmt) or not edits.targets_of(other):
                continue
            if source.code(call) in source.code(value):
                name = edits.targets_of(other)[0]
                told = f"score `{name}`, which was taken"
                yield from case.change(told, source, edits.written(source, call, name))


@cures("entropy-sign")
def the_other_sign(case: Case) -> Iterator[Candidate]:
    """``+ 0.01 * entropy`` as ``- 0.01 * entropy``; ``-alpha * log_prob`` as ``alpha * log_prob``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for node in source.own(stmt):
        match node:
            case cst.BinaryOperation(operator=cst.Add() | cst.Subtract() as sign, right=right):
                if re.search(r"entropy|\bent\b|\b\w*log_?p\w*|\blp\w*", source.code(right), re.IGNORECASE):
                    if _sums(source, right):  # more than the entropy would change its sign
                        continue
                    other = cst.Subtract if isinstance(sign, cst.Add) else cst.Add
                    new = other(sign.whitespace_before, sign.whitespace_after)
                    yield from case.change("the other sign", source, {sign: new})
            case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
                if not _sums(source, inner):  # it would turn the other terms round as well
                    yield from case.change("no minus", source, edits.in_place_of(source, node, inner))


def _sums(source: Source, node: Node) -> bool:
    """Is a sum of several terms in it? A small number beside a value is none."""
    for part in source.within(node):
        if isinstance(part, cst.BinaryOperation) and isinstance(part.operator, cst.Add | cst.Subtract):
            sides = (part.left, part.right)
            if not any(isinstance(side, cst.Float | cst.Integer) for side in sides):
                return True
    return False


@cures("double-softmax")
def what_it_is(case: Case) -> Iterator[Candidate]:
    """``probs=`` for probabilities, ``logits=`` for logits; or no softmax before it."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for call in source.own(stmt):
        if not isinstance(call, cst.Call):
            continue
        if "Categorical" in edits.called(call) or edits.called(call) == "Bernoulli":
            yield from _other_keyword(case, source, call)
        if "crossentropy" in edits.called(call).lower() and edits.keyword(call, "from_logits") is None:
            told = [*call.args, cst.Arg(cst.Name("True"), keyword=cst.Name("from_logits"), equal=_tight())]
            yield from case.change("`from_logits=True`", source, {call: call.with_changes(args=told)})
        logits = edits.keyword(call, "logits")
        if logits is not None and not case.in_torch:
            text = f"tf.math.log({source.code(logits.value)})"
            yield from case.change("their logarithm", source, edits.written(source, logits.value, text))
        if edits.called(call) in ("softmax", "log_softmax") and edits.positional(call):
            inner = edits.positional(call)[0]
            yield from case.change("no softmax", source, edits.in_place_of(source, call, inner))
    yield from _made_with_softmax(case, source, stmt)


def _tight() -> Node:
    blank = cst.SimpleWhitespace("")
    return cst.AssignEqual(whitespace_before=blank, whitespace_after=blank)


def _other_keyword(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    for old, new in (("logits", "probs"), ("probs", "logits")):
        given = edits.keyword(call, old)
        if given is not None:
            named = given.with_changes(keyword=cst.Name(new))
            yield from case.change(f"`{new}=`", source, {given: named})
    if call.args and call.args[0].keyword is None:
        first = call.args[0].with_changes(keyword=cst.Name("logits"), equal=_tight())
        yield from case.change("`logits=`", source, {call.args[0]: first})


def _made_with_softmax(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """A name in the call that is a softmax of something, a few lines above."""
    for node in source.own(stmt):
        made = scopes.assigned(source, stmt, node.value) if isinstance(node, cst.Name) else None
        value = edits.value_of(made) if made is not None else None
        if edits.called(value) == "softmax" and edits.positional(value):
            inner = edits.positional(value)[0]
            yield from case.change("no softmax", source, edits.in_place_of(source, value, inner))


@cures("cancelled-gradient")
def stop_the_old_one(case: Case) -> Iterator[Candidate]:
    """``new - old``: what is taken away is the constant. A drawn action is one, too."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for node in source.own(stmt):
        match node:
            case cst.BinaryOperation(operator=cst.Subtract() | cst.Divide(), right=right):
                told = f"stop `{source.code(right)}`"
                yield from case.change(told, source, edits.stopped(source, right, case.in_torch))
    for site in dict.fromkeys([case.site, *case.steps()]):
        here = case.read(site.file)
        for call in here.at(site.line, cst.Call) if here is not None else ():
            if here is not None and edits.called(call) in ("sample", "rsample"):
                told = "the action as a constant"
                yield from case.change(told, here, edits.stopped(here, call, case.in_torch))
            if here is not None and edits.called(call) == "log_prob" and edits.positional(call):
                action = edits.positional(call)[0]
                told = f"score `{here.code(action)}` as a constant"
                yield from case.change(told, here, edits.stopped(here, action, case.in_torch))


@cures("wrong-axis")
def the_last_axis(case: Case) -> Iterator[Candidate]:
    """Along the actions or features, not along the batch or over everything."""
    source = case.source
    if source is None:
        return
    word = "dim" if case.in_torch else "axis"
    keep = "keepdim" if case.in_torch else "keepdims"
    for call in source.at(case.site.line, cst.Call):
        if edits.called(call).removeprefix("reduce_") not in (
            "softmax",
            "log_softmax",
            "mean",
            "sum",
            "max",
            "min",
        ):
            continue
        given = edits.keyword(call, word)
        if given is not None:
            yield from case.change(f"`{word}=-1`", source, {given.value: edits.expression("-1")})
            continue
        code, more = source.code(call)[:-1].rstrip().rstrip(","), ", " if call.args else ""
        values = ".values" if case.in_torch and edits.called(call) in ("max", "min") else ""
        for text in (f"{code}{more}{word}=-1){values}", f"{code}{more}{word}=-1, {keep}=True){values}"):
            yield from case.change(f"`{word}=-1`", source, edits.written(source, call, text))
