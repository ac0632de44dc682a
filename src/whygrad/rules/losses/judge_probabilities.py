"""Probabilities where logits belong, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.axes import is_layer
from whygrad.flow.compiling import loss_line
from whygrad.flow.few import few_per_line
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Op, Severity, Site, Step
from whygrad.model.kinds import SAME_NUMBERS, SUMS
from whygrad.rules.cause import Cause
from whygrad.rules.losses.double_softmax import DoubleSoftmax
from whygrad.rules.stepped import stepped

_NEAR = 8
_SAME = SAME_NUMBERS | {Kind.STOP, Kind.BOUND, Kind.CONVERT, Kind.ASK}
#: They apply a softmax of their own.
_TAKE_LOGITS = frozenset(
    (Kind.CROSS_ENTROPY, Kind.LOG_SOFTMAX, Kind.SOFTMAX, Kind.LOG_SUM, Kind.DRAW_LOGITS, Kind.PICKED_LOG)
)
_TINY = 1e-3


def probabilities(situation: Situation) -> Iterator[Cause]:
    """The calls that are given the one where the other belongs."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        if not situation.whole(backward):
            continue
        for op in few_per_line(backward.flow[n] for n in sorted(backward.flow.ops)):
            if op.site in done or not op.inputs:
                continue
            given = _twice(backward.flow, op) or _raw(backward.flow, op)
            keys = situation.parts(backward).behind(op.inputs[0]) if given is not None else frozenset[int]()
            if given is not None and keys:
                done.add(op.site)
                yield _cause(situation, backward, op, given, keys & backward.applied or keys)


def _twice(flow: Flow, op: Op) -> Op | None:
    """The softmax whose result goes straight into another one, or the sigmoid."""
    if op.kind in _TAKE_LOGITS:
        given = _behind(flow, op.inputs[0])
        return given if given.kind is Kind.SOFTMAX else None
    logit = op.inputs[0] if op.kind is Kind.LOGISTIC else _logit(flow, op)
    squashed = _behind(flow, logit) if logit is not None else None
    return squashed if squashed is not None and squashed.kind is Kind.SIGMOID else None


def _logit(flow: Flow, op: Op) -> int | None:
    """``x`` of ``exp(-|x|)``, as a cross entropy of yes or no is computed in single operations."""
    either = flow[op.inputs[0]] if op.kind is Kind.EXP else None
    if either is None or either.kind is not Kind.WHERE or len(either.inputs) != 3:
        return None
    below, above = (flow[i] for i in either.inputs[1:])
    return above.id if below.kind is Kind.NEGATE and below.inputs == (above.id,) else None


def _behind(flow: Flow, number: int) -> Op:
    """The value itself, before it was shaped, cast or kept from zero."""
    op = flow[number]
    for _ in range(_NEAR):
        if not op.inputs or op.parameter is not None or not (op.kind in _SAME or _nudged(op)):
            break
        op = flow[op.inputs[0]]
    return op


def _nudged(op: Op) -> bool:
    """``p + 1e-8``."""
    return op.kind in SUMS and len(op.inputs) == 1 and all(abs(n) <= _TINY for n in op.numbers)


def _raw(flow: Flow, op: Op) -> Op | None:
    """The layer whose raw output is taken for probabilities, or for their logarithms."""
    given: Op | None = None
    if op.kind is Kind.PICKED_LOG:
        given = _behind(flow, op.inputs[0])
    elif op.kind is Kind.LOG:
        given = _behind(flow, op.inputs[0])
        given = _before_sharing(flow, given) or (given if _up_to_one(flow, op) else None)
    return given if given is not None and is_layer(flow, given) and given.shape[-1:] != (1,) else None


def _up_to_one(flow: Flow, op: Op) -> bool:
    """Is its input kept between 0 and 1, so that it cannot be anything but a probability?"""
    bounds: list[float] = []
    for _ in range(_NEAR):
        op = flow[op.inputs[0]] if op.inputs else op
        if op.kind not in _SAME:
            break
        bounds += op.numbers if op.kind is Kind.BOUND else ()
    return len(bounds) > 1 and -_TINY <= min(bounds) <= _TINY and abs(max(bounds) - 1) <= _TINY


def _before_sharing(flow: Flow, op: Op) -> Op | None:
    """``p`` of ``p / p.sum()``: whoever divides by the sum takes it for shares of one."""
    if op.kind is not Kind.DIVIDE or len(op.inputs) != 2:
        return None
    whole, total = (_behind(flow, i) for i in op.inputs)
    return whole if total.kind is Kind.SUM and _behind(flow, total.inputs[0]).id == whole.id else None


def _cause(
    situation: Situation, backward: Backward, op: Op, given: Op, keys: frozenset[int]
) -> DoubleSoftmax:
    raw = is_layer(backward.flow, given)
    mild = op.kind is Kind.SOFTMAX  # two in a row may be meant
    first = () if given.site == op.site else (Step.at(given.site, given.name),)
    site = loss_line(op.site) or op.site
    return DoubleSoftmax(
        site=site,
        chain=(*first, Step.at(site, op.name, mark=Mark.HERE)),
        severity=Severity.WARNING if mild else Severity.ERROR,
        confidence=Confidence.LIKELY if mild else Confidence.CERTAIN,
        loss=backward.flow[backward.roots[0]].site if backward.roots else None,
        squashed="sigmoid" if given.kind is Kind.SIGMOID else "softmax",
        raw=raw,
        logarithm=op.kind is Kind.PICKED_LOG,
        drawn=op.kind is Kind.DRAW_LOGITS,
        **stepped(situation, keys),
    )
