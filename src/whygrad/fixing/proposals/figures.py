"""Values that break: kept away from where a function has no finite derivative."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits
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
