"""Values that break: kept away from where a function has no finite derivative."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures

_SMALL = "1e-8"


@cures("non-finite")
def away_from_zero(case: Case) -> Iterator[Candidate]:
    """``log(x)`` and ``sqrt(x)`` of ``x + 1e-8``."""
    source = case.source
    if source is None:
        return
    for call in source.at(case.site.line, cst.Call):
        if edits.called(call) not in ("log", "sqrt", "norm"):
            continue
        given = edits.positional(call)
        inner = given[0] if given else edits.owner(call)
        if inner is None or edits.called(call) == "norm":
            continue
        text = f"{source.code(inner)} + {_SMALL}"
        if not given:
            text = f"({source.code(inner)} + {_SMALL})"
        yield from case.change(f"`+ {_SMALL}`", source, edits.written(source, inner, text))


@cures("zero-gradient")
def a_leak(case: Case) -> Iterator[Candidate]:
    """A ReLU whose units are dead: one with a slope on the other side as well."""
    if "ReLU units" not in case.finding.title or case.source is None:
        return
    source = case.source
    home = source.statement(case.site.line)
    makers = [s for s in source.statements if home is not None and s is not home]
    for stmt in [home, *makers] if home is not None else []:
        changes: edits.Changes = {}
        for node in source.own(stmt):
            name = edits.name_of(node)
            if name.rpartition(".")[2] in _LEAKY and not edits.part_of_name(source, node):
                changes.update(edits.written(source, node, _leaky(case, name)))
            elif isinstance(node, cst.SimpleString) and node.evaluated_value == "relu":
                changes[node] = node.with_changes(value=node.value.replace("relu", "leaky_relu"))
        yield from case.change("a leaky ReLU", source, changes)


_LEAKY = {"relu": "leaky_relu", "ReLU": "LeakyReLU"}


def _leaky(case: Case, name: str) -> str:
    before, _, last = name.rpartition(".")
    if before == "torch":  # torch has no leaky one by itself
        before = "torch.nn.functional"
    return f"{before}.{_LEAKY[last]}" if before else _LEAKY[last]


@cures("zero-gradient")
def within_its_bounds(case: Case) -> Iterator[Candidate]:
    """A clip that nothing passes: the same value, with the gradient of what went in."""
    source = case.source
    if source is None or "clipped" not in case.finding.title:
        return
    for call in source.at(case.site.line, cst.Call):
        if edits.called(call) not in ("clamp", "clip", "clip_by_value", "hardtanh"):
            continue
        inner = edits.owner(call)
        if inner is None or edits.name_of(inner) in ("torch", "tf", "F", "ops", "keras.ops"):
            inner = edits.positional(call)[0]
        x, hard = edits.atom(source, inner), source.code(call)
        stop = f"({hard} - {x}).detach()" if case.in_torch else f"{edits.stopper(source)}({hard} - {x})"
        yield from case.change(
            "the straight-through form", source, edits.written(source, call, f"{x} + {stop}")
        )


@cures("zero-gradient")
def a_loss_each(case: Case) -> Iterator[Candidate]:
    """``loss(min(a, b), y)`` as ``loss(a, y) + loss(b, y)``."""
    source = case.source
    if source is None or "minimum or maximum" not in case.finding.title:
        return
    for call in source.at(case.site.line, cst.Call):
        for inner in edits.positional(call):
            if edits.called(inner) not in ("min", "max", "minimum", "maximum"):
                continue
            both = [source.code_with(call, {inner: side}) for side in edits.positional(inner)]
            if len(both) == 2:
                made = edits.written(source, call, " + ".join(both))
                yield from case.change("a loss for each of the two", source, made)


@cures("zero-gradient")
def not_minus_its_own_mean(case: Case) -> Iterator[Candidate]:
    """One number minus its own mean is zero: the number itself."""
    if "over one sample" not in case.finding.title or case.source is None:
        return
    source = case.source
    home = source.statement(case.site.line)
    for stmt in scopes.function_lines(source, home) if home is not None else ():
        for node in source.own(stmt):
            match node:
                case cst.BinaryOperation(operator=cst.Subtract(), left=left, right=cst.Call() as mean):
                    if edits.called(mean) not in ("mean", "reduce_mean"):
                        continue
                    outer = source.parent(node)
                    whole = node
                    if isinstance(outer, cst.BinaryOperation) and isinstance(outer.operator, cst.Divide):
                        whole = outer if outer.left is node else node
                    changes = edits.tidied(source, edits.in_place_of(source, whole, left))
                    yield from case.change(f"`{source.code(left)}` as it is", source, changes)


@cures("vanishing")
def relu_between_the_layers(case: Case) -> Iterator[Candidate]:
    """Where the network is made, a ReLU for each sigmoid or tanh."""
    for source in filter(None, (case.read(site.file) for site in [case.site])):
        for stmt in source.statements:
            changes: edits.Changes = {}
            for node in source.own(stmt):
                name = edits.name_of(node)
                if name.rpartition(".")[2] in ("Sigmoid", "Tanh") and not edits.part_of_name(source, node):
                    changes.update(edits.written(source, node, name.rpartition(".")[0] + ".ReLU"))
                elif isinstance(node, cst.SimpleString) and node.evaluated_value in ("sigmoid", "tanh"):
                    changes[node] = cst.SimpleString('"relu"')
            yield from case.change("ReLU between the layers", source, changes)


@cures("unexplained")
def a_backward_of_its_own(case: Case) -> Iterator[Candidate]:
    """An ``autograd.Function`` that answers with zeros: with the gradient that it was given."""
    source = case.source
    for stmt in source.statements if source is not None else ():
        function = source.function(stmt) if source is not None else None
        value = edits.value_of(stmt)
        if source is None or function is None or function.name.value != "backward":
            continue
        if edits.called(value) == "zeros_like" and edits.positional(value):
            given = edits.positional(value)[0]
            yield from case.change("let the gradient pass", source, edits.in_place_of(source, value, given))


@cures("zero-gradient")
def no_softmax_over_one(case: Case) -> Iterator[Candidate]:
    """A softmax over one element is 1, whatever goes in."""
    source = case.source
    if source is None or "softmax over one element" not in case.finding.title:
        return
    for call in source.at(case.site.line, cst.Call):
        if edits.called(call) == "softmax" and edits.positional(call):
            inner = edits.positional(call)[0]
            yield from case.change("no softmax", source, edits.in_place_of(source, call, inner))
        for arg in call.args:
            if isinstance(arg.value, cst.SimpleString) and arg.value.evaluated_value == "softmax":
                rest = [a for a in call.args if a is not arg]
                if rest:
                    rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                yield from case.change("no softmax", source, {call: call.with_changes(args=rest)})
