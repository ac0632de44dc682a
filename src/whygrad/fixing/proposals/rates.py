"""Learning rates and thresholds that leave nothing of a gradient: what the library takes if nobody says."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source

_RATES = frozenset({"lr", "learning_rate"})
_OPTIMIZERS = frozenset(
    {"SGD", "Adam", "AdamW", "Adamax", "NAdam", "Nadam", "RAdam", "RMSprop", "RMSProp", "Adagrad", "Adadelta"}
    | {"Adafactor", "Ftrl", "Lion", "AdamOptimizer", "RMSPropOptimizer", "GradientDescentOptimizer"}
)
_THRESHOLDS = ("max_norm", "clip_norm", "clipnorm", "global_clipnorm", "clip_value", "clipvalue")
_NORM = "0.5"  # what most published agents clip a norm to


@cures("no-step")
def true_division(case: Case) -> Iterator[Candidate]:
    """A learning rate of 0 that comes from ``//``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None or "learning rate is 0" not in case.finding.title:
        return
    names = {n.value for n in source.own(stmt) if isinstance(n, cst.Name)}
    makers = [scopes.assigned(source, stmt, name) for name in sorted(names)]
    for where in dict.fromkeys([stmt, *(s for s in makers if s is not None)]):
        for node in source.own(where):
            if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.FloorDivide):
                spaces = node.operator
                slash = cst.Divide(spaces.whitespace_before, spaces.whitespace_after)
                yield from case.change("`/` instead of `//`", source, {node.operator: slash})


@cures("no-step", "stalled", "oscillating", "exploding")
def the_default_rate(case: Case) -> Iterator[Candidate]:
    """The optimizer, or its group, without a rate of its own; no line that sets the rate later."""
    if case.finding.rule == "no-step" and "learning rate" not in case.finding.title:
        return
    if case.finding.rule == "exploding" and any(a_discount_below_one(case)):
        return  # smaller steps would only make it explode later
    for source, stmt in _where_made(case):
        for node in source.own(stmt):
            if isinstance(node, cst.Dict):
                yield from _without_entry(case, source, node)
            elif isinstance(node, cst.Call) and _makes_optimizer(case, source, node):
                yield from _without_rate(case, source, node)
    for file in filter(None, (case.read(site.file) for site in case.makers())):
        for stmt in (s for s in file.statements if _sets_rate(file, s)):
            yield from case.change(f"leave out `{file.code(stmt)}`", file, edits.without(file, stmt))


def _where_made(case: Case) -> Iterator[tuple[Source, Node]]:
    """The statements that make the optimizer, and those that make the lists and rates in them."""
    seen: dict[tuple[str, int], None] = {}
    for site in dict.fromkeys([case.site, *case.makers()]):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None:
            continue
        names = [n.value for n in source.own(stmt) if isinstance(n, cst.Name)]
        made = (scopes.assigned(source, stmt, name) for name in dict.fromkeys(names))
        for where in (stmt, *(m for m in made if m is not None)):
            if (key := (source.file, source.line(where))) not in seen:
                seen[key] = None
                yield source, where


def _makes_optimizer(case: Case, source: Source, call: Node) -> bool:
    """Is a rate given here? By its name, or as the number behind the parameters."""
    return any(edits.keyword(call, name) is not None for name in _RATES) or (
        edits.called(call) in _OPTIMIZERS and _bare_rate(case, source, call) is not None
    )


def _bare_rate(case: Case, source: Source, call: Node) -> Node | None:
    """``Adam(net.parameters(), 1e-3)`` and ``Adam(1e-3)``: the argument without a name."""
    place = 1 if case.in_torch else 0
    bare = [arg for arg in call.args if arg.keyword is None and not arg.star]
    held = bare[place] if len(bare) == place + 1 == len(call.args) else None
    number = held is not None and isinstance(held.value, cst.Float | cst.Integer | cst.BinaryOperation)
    return held if number else None


def _without_rate(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    given = next((a for name in _RATES if (a := edits.keyword(call, name)) is not None), None)
    given = given or _bare_rate(case, source, call)
    rest = [a for a in call.args if a is not given]
    if rest:
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    told = f"the default of `{edits.called(call)}`, without `{source.code(given).rstrip(', ')}`"
    yield from case.change(told, source, {call: call.with_changes(args=rest)})


def _without_entry(case: Case, source: Source, node: Node) -> Iterator[Candidate]:
    """A group of parameters without a rate of its own."""
    rest = [e for e in node.elements if not (isinstance(e, cst.DictElement) and _is_rate(e.key))]
    if 0 < len(rest) < len(node.elements):
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        yield from case.change(
            "the rate of the other groups", source, {node: node.with_changes(elements=rest)}
        )


def _is_rate(key: Node) -> bool:
    return isinstance(key, cst.SimpleString) and key.evaluated_value in _RATES


def _sets_rate(source: Source, stmt: Node) -> bool:
    """``opt.learning_rate = 0``, ``opt.learning_rate.assign(0)``, ``group["lr"] = 0``."""
    if not isinstance(stmt, cst.SimpleStatementLine):
        return False
    if any(name.rpartition(".")[2] in _RATES and "." in name for name in edits.targets_of(stmt)):
        return True
    return (
        re.match(r"""[\w.]+\.(lr|learning_rate)\.assign\(|[\w.]+\[["']lr["']\] =""", source.code(stmt))
        is not None
    )


@cures("exploding")
def a_discount_below_one(case: Case) -> Iterator[Candidate]:
    """A discount of one or more, which makes the targets grow from update to update."""
    source = case.source
    for node in source.within(source.module) if source is not None else ():
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Float() as value):
                name = edits.name_of(target)
            case cst.Param(name=cst.Name(value=name), default=cst.Float() as value):
                pass
            case cst.Arg(keyword=cst.Name(value=name), value=cst.Float() as value):
                pass
            case _:
                continue
        if source is not None and re.search(r"gamma|discount", name.lower()) and float(value.value) > 1:
            yield from case.change("a discount below 1", source, edits.written(source, value, "0.99"))


@cures("clip-to-nothing")
def unscaled_first(case: Case) -> Iterator[Candidate]:
    """``scaler.unscale_(optimizer)`` above the clip, where a scaler takes the step."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    for site in case.steps():
        step = source.statement(site.line) if source and site.file == source.file else None
        for call in source.own(step) if source is not None and step is not None else ():
            given = edits.positional(call) if edits.called(call) == "step" else []
            if source is not None and len(given) == 1 and edits.name_of(edits.owner(call)):
                text = f"{source.code(edits.owner(call))}.unscale_({source.code(given[0])})"
                yield from case.change(
                    f"`{text}` before it", source, edits.before(stmt, edits.statement(text))
                )


@cures("clip-to-nothing")
def a_threshold_that_leaves_something(case: Case) -> Iterator[Candidate]:
    """One clip of two; or a threshold that cuts spikes and nothing else."""
    for source, stmt in _where_made(case):
        for call in (n for n in source.own(stmt) if isinstance(n, cst.Call)):
            for name in _THRESHOLDS:
                given = edits.keyword(call, name)
                if given is None:
                    continue
                if edits.called(call)[:1].isupper():  # an optimizer's own clip, beside one that is written
                    rest = [a for a in call.args if a is not given]
                    rest[-1:] = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in rest[-1:]]
                    told = f"without `{source.code(given).rstrip(', ')}`"
                    yield from case.change(told, source, {call: call.with_changes(args=rest)})
                else:
                    yield from case.change(
                        f"`{name}={_NORM}`", source, edits.written(source, given.value, _NORM)
                    )
            if edits.called(call).startswith("clip") and edits.positional(call)[1:]:
                yield from _other_threshold(case, source, stmt, edits.positional(call)[1])


def _other_threshold(case: Case, source: Source, stmt: Node, given: Node) -> Iterator[Candidate]:
    """Where the number is written: in the call, or where its name is given a value."""
    if isinstance(given, cst.Float | cst.Integer):
        yield from case.change(f"a threshold of {_NORM}", source, edits.written(source, given, _NORM))
        return
    name = edits.name_of(given).rpartition(".")[2]
    for node in source.within(source.module) if name else ():
        match node:
            case cst.Arg(keyword=cst.Name(value=found), value=cst.Float() | cst.Integer() as value):
                pass
            case cst.Param(name=cst.Name(value=found), default=cst.Float() | cst.Integer() as value):
                pass
            case cst.Assign(
                targets=[cst.AssignTarget(target=target)], value=cst.Float() | cst.Integer() as value
            ):
                found = edits.name_of(target).rpartition(".")[2]
            case _:
                continue
        if found == name:
            yield from case.change(f"`{name}` of {_NORM}", source, edits.written(source, value, _NORM))
