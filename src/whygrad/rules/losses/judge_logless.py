"""Policy losses with the probability of the action where its logarithm belongs."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.distributions import moved
from whygrad.flow.paths import living_values
from whygrad.flow.ratios import compared
from whygrad.flow.situation import Situation
from whygrad.flow.weights import before_standardising
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Op, Optimizer, Severity, Site, Step
from whygrad.model.kinds import SAME_NUMBERS
from whygrad.rules.cause import Cause
from whygrad.rules.losses.judge_signs import signed
from whygrad.rules.losses.surrogate_missing import Made, SurrogateMissing

_NEAR = 8
_AROUND = SAME_NUMBERS | {Kind.NEGATE, Kind.BOUND, Kind.JOIN, Kind.ADD}
_TINY = 1e-3


def logless(situation: Situation) -> Iterator[Cause]:
    """One cause per line that weighs probabilities of actions, if it does so whenever it is seen."""
    found: dict[Site | None, Cause] = {}
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if not backward.applied & optimizer.held or not situation.whole(backward):
                    continue
                for op, bare in _weighed(situation, backward):
                    if op.site not in found:
                        found[op.site] = _cause(situation, optimizer, backward, op, bare)
    yield from found.values()


def _weighed(situation: Situation, backward: Backward) -> Iterator[tuple[Op, Op]]:
    """The products of a bare probability, or an exponential of two, with data; and what is bare there."""
    flow, parts = backward.flow, situation.parts(backward)
    for part in (p for root in backward.roots for p in signed(flow, root)):
        op = part.op
        if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2:
            continue
        live = [flow[i] for i in op.inputs if flow[i].carries]
        data = [flow[i] for i in op.inputs if not flow[i].carries and flow[i].floating]
        if len(live) != 1 or len(data) != 1 or live[0].shape != data[0].shape:
            continue
        bare = _picked(flow, live[0]) or _exponent(flow, live[0])
        rows = _softmax(flow, live[0])
        if rows is not None and moved(parts, data[0]) is not None:
            yield op, rows
        elif bare is not None and before_standardising(flow, data[0]).kind is not Kind.DIVIDE:
            yield op, bare


def _picked(flow: Flow, op: Op) -> Op | None:
    """The probability of one action for each sample, chosen by what was done."""
    for _ in range(_NEAR):
        chosen = op.kind is Kind.CHOOSE or (op.kind is Kind.PICK and op.inputs and _by_row(flow, op))
        if chosen:
            return op if _softmax(flow, flow[op.inputs[0]]) else None
        nudged = op.kind is not Kind.ADD or all(abs(n) <= _TINY for n in op.numbers)
        if op.kind not in _AROUND or not op.inputs or not nudged:
            return None
        op = flow[op.inputs[0]]
    return None


def _by_row(flow: Flow, op: Op) -> bool:
    """One element of each row, by an index for each: ``p[:, 0]`` is no action that was drawn."""
    fewer = len(op.shape) < len(flow[op.inputs[0]].shape)
    return fewer and any(flow[i].shape[:1] == op.shape[:1] != () for i in op.inputs[1:])


def _softmax(flow: Flow, op: Op) -> Op | None:
    """The probabilities of all actions that these are, collected step by step perhaps."""
    for _ in range(_NEAR):
        if op.kind is Kind.SOFTMAX:
            return op
        if op.kind not in SAME_NUMBERS | {Kind.BOUND, Kind.PICK, Kind.JOIN} or not op.inputs:
            return None
        op = flow[op.inputs[0]]
    return None


def _exponent(flow: Flow, op: Op) -> Op | None:
    """``exp(p - old_p)``: the ratio of log-probabilities, without the logarithms."""
    while op.kind in SAME_NUMBERS | {Kind.BOUND} and op.inputs:
        op = flow[op.inputs[0]]
    inner = compared(flow, op) if op.kind is Kind.EXP else op
    if inner.kind is not Kind.SUBTRACT or len(inner.inputs) != 2 or op.kind is not Kind.EXP:
        return None
    live = [flow[i] for i in inner.inputs if flow[i].carries]
    return _picked(flow, live[0]) if len(live) == 1 else None


def _cause(
    situation: Situation, optimizer: Optimizer, backward: Backward, op: Op, bare: Op
) -> SurrogateMissing:
    keys = {backward.flow[n].parameter for n in living_values(backward.flow, [bare.id])}
    site = bare.site or op.site
    steps = () if site == op.site else (Step.at(op.site, "the policy loss"),)
    return SurrogateMissing(
        site=site,
        subjects=situation.parameters(backward.applied & optimizer.held & keys),
        chain=(Step.at(site, "the probability", mark=Mark.HERE), *steps),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=op.site,
        first_update=1,
        updates=optimizer.steps,
        made_of=Made.PROBABILITIES,
    )
