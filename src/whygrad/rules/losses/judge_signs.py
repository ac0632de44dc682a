"""Losses that make the policy worse: the score is minimised where it should be maximised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from whygrad.flow.layers import adds_bias
from whygrad.flow.paths import ancestors, living_values
from whygrad.flow.ratios import compared, ratio
from whygrad.flow.scores import is_probability, is_score
from whygrad.flow.situation import Situation
from whygrad.flow.weights import before_standardising, orientation
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Op, Optimizer, Severity, Site, Step
from whygrad.model.kinds import EXTREMES, KEEPS_SIGN, REDUCTIONS, SCALES, SCORES
from whygrad.rules.cause import Cause
from whygrad.rules.losses.value_sign import ValueSign

_ENDS = SCORES | {Kind.LOSS, Kind.POWER, Kind.MAGNITUDE}  # no network gives its values like this
_MOST = 2000
_LOG_PROBS = ("Categorical.log_prob", "Normal.log_prob", "Independent.log_prob")


@dataclass(frozen=True, slots=True)
class Signed:
    """A part of the loss that is not a sum any more, and the sign with which it enters."""

    op: Op
    sign: int


def signs(situation: Situation) -> Iterator[Cause]:
    """One cause per loss whose every policy term has the wrong sign, in every update in which it is known."""
    wrong: dict[Site | None, Cause] = {}
    right: set[Site | None] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer) if optimizer.descends else ():
            for backward in update.backwards:
                if not backward.applied & optimizer.held or backward.follower != optimizer.key:
                    continue
                known = _policy_terms(situation, optimizer, backward) if situation.whole(backward) else []
                if known and all(part.sign > 0 for part in known):
                    op = known[0].op
                    cause = _cause(situation, optimizer, backward, _smaller_of(backward.flow, op))
                    wrong.setdefault(op.site, _at_its_root(situation, backward, known[0], cause))
                else:
                    right |= {part.op.site for part in known}
    yield from (cause for site, cause in wrong.items() if site not in right)


def _smaller_of(flow: Flow, op: Op) -> Op:
    """``min(surr1, surr2)``: the minus belongs in front of that, not of one of the two."""
    return next((o for o in flow.ops.values() if o.kind in EXTREMES and op.id in o.inputs), op)


def _at_its_root(situation: Situation, backward: Backward, part: Signed, cause: ValueSign) -> ValueSign:
    """Where the minus is there, and what stands behind it is the wrong way round."""
    flow = situation.parts(backward).flow
    live = [flow[i] for i in part.op.inputs if flow[i].carries]
    data = [flow[i] for i in part.op.inputs if not flow[i].carries]
    if len(live) != 1 or len(data) != 1:
        return cause
    turned = [p.op for p in signed(flow, live[0].id) if ratio(flow, p.op) < 0]
    if turned:
        return _turned(cause, compared(flow, turned[0]), "ratio")
    if orientation(situation.parts(backward), data[0]) < 0:
        return _turned(cause, before_standardising(flow, data[0]), "advantage")
    return cause


def _turned(cause: ValueSign, op: Op, what: Literal["ratio", "advantage"]) -> ValueSign:
    if op.site is None:
        return cause
    steps = (Step.at(op.site, f"the {what}", mark=Mark.HERE), Step.at(cause.site, "the policy loss"))
    return replace(cause, site=op.site, turned=what, chain=steps if cause.site != op.site else steps[:1])


def _policy_terms(situation: Situation, optimizer: Optimizer, backward: Backward) -> list[Signed]:
    """The terms that grow when the policy gets better, each with its sign; none if a part was not seen."""
    parts = [p for root in backward.roots for p in signed(backward.flow, root)]
    if any(p.op.kind is Kind.UNSEEN for p in parts):
        return []
    scores = [Signed(p.op, _score_sign(situation, backward, p)) for p in parts]
    known = [p for p in scores if p.sign]
    return known or [p for p in parts if _is_critic(situation, optimizer, backward, p.op)]


def signed(flow: Flow, root: int, ends: frozenset[int] = frozenset()) -> Iterator[Signed]:
    """The parts of a loss with their signs, through sums, means and constant factors; not beyond ``ends``."""
    todo = [(root, 1)]
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        here, sign = todo.pop()
        op = flow[here]
        if here in seen or not op.carries:
            continue
        seen.add(here)
        inputs = [i for i in op.inputs if flow[i].carries]
        if here in ends or is_score(op) or adds_bias(flow, op):
            yield Signed(op, sign)
        elif op.kind is Kind.NEGATE:
            todo.extend((i, -sign) for i in inputs)
        elif op.kind is Kind.ADD or (op.kind in KEEPS_SIGN and inputs and op.parameter is None):
            todo.extend((i, sign) for i in inputs)
        elif op.kind is Kind.SUBTRACT and len(op.inputs) <= 2:
            first = -sign if op.swapped else sign
            if len(op.inputs) == 2 and _is_bounded(flow, *op.inputs):
                todo.append((op.inputs[0], first))
                continue
            todo.extend((i, s) for i, s in zip(op.inputs, (first, -sign), strict=False) if flow[i].carries)
        elif op.kind in SCALES and 0.0 in op.numbers and len(op.inputs) == 1:
            continue  # times zero: it has no sign, and no part in the loss
        elif op.kind in SCALES and not op.swapped and len(op.inputs) == 1 and inputs:
            flipped = op.numbers and op.numbers[0] < 0
            todo.append((inputs[0], -sign if flipped else sign))
        else:
            yield Signed(op, sign)


def _is_bounded(flow: Flow, one: int, two: int) -> bool:
    """``x - minimum(x, 1)``, as a Huber loss has it: what is over never falls where x grows."""
    return flow[two].kind is Kind.BOUND and one in flow[two].inputs


def _score_sign(situation: Situation, backward: Backward, part: Signed) -> int:
    """+1 if a product of log-probability and advantage is minimised, -1 if maximised, 0 if it is neither."""
    op, flow = part.op, backward.flow
    if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2:
        return 0
    live = [flow[i] for i in op.inputs if flow[i].carries]
    data = [flow[i] for i in op.inputs if not flow[i].carries]
    if len(live) != 1 or len(data) != 1 or not data[0].floating:
        return 0
    log_sign = _log_probability(flow, live[0], backward.tape)
    return part.sign * log_sign * orientation(situation.parts(backward), data[0]) if log_sign else 0


def _log_probability(flow: Flow, op: Op, tape: bool) -> int:
    """The sign of a plain log-probability; 0 for anything else, an entropy among them."""
    found = {part.sign * _logarithm(flow, part.op, tape) for part in signed(flow, op.id)}
    return found.pop() if len(found) == 1 else 0


def _logarithm(flow: Flow, op: Op, tape: bool) -> int:
    """+1 for a log-probability, -1 for a cross entropy per sample, 0 for neither."""
    if op.api.endswith(_LOG_PROBS) or op.kind is Kind.LOG_SOFTMAX:
        return 1
    if op.kind in (Kind.EXP, Kind.DIVIDE):
        return ratio(flow, op)
    if op.kind is Kind.MULTIPLY:
        return _of_the_action(flow, op, tape)
    if op.kind is Kind.LOG and any(is_probability(flow, i, squashed=not tape) for i in op.inputs):
        return 1
    if not tape:
        return 0
    if op.api.rpartition(".")[2] == "log_prob":
        return 1
    return -1 if op.kind is Kind.CROSS_ENTROPY and op.shape else 0


def _of_the_action(flow: Flow, op: Op, tape: bool) -> int:
    """``one_hot(action) * log_probs``: a row of numbers for each sample, of which data picks one."""
    live = [flow[i] for i in op.inputs if flow[i].carries]
    rows = len(op.shape) > 1 and op.shape[-1] > 1 and all(flow[i].shape == op.shape for i in op.inputs)
    picked = rows and len(op.inputs) == 2 and len(live) == 1 and live[0].kind in (Kind.LOG_SOFTMAX, Kind.LOG)
    return _logarithm(flow, live[0], tape) if picked else 0


def _is_critic(situation: Situation, optimizer: Optimizer, backward: Backward, op: Op) -> bool:
    """Is this the output of a network that another loss regresses on rewards, led by what we train?"""
    keys = {flow_op.parameter for n in living_values(backward.flow, [op.id]) if (flow_op := backward.flow[n])}
    behind = situation.parts(backward).behind(op.id)  # a critic that is frozen for the time is one, too
    if not keys & optimizer.held or op.kind in _ENDS:
        return False
    for other in situation.backwards:
        if other.number == backward.number:
            continue
        for boot in situation.bootstraps(other):
            critic = frozenset(k for p in boot.predictions for k in situation.parts(other).behind(p.op))
            if (
                critic
                and critic <= behind
                and not critic & optimizer.held
                and _is_output(backward, op, critic)
            ):
                return True
    return False


def _is_output(backward: Backward, op: Op, critic: frozenset[int]) -> bool:
    """The value is what a layer of the critic gave, not something computed from it."""
    return any(backward.flow.parameter(i) in critic for i in op.inputs)


def _summed_up(flow: Flow, op: Op, root: Op) -> Op:
    """Where the values of a network become one number: a sign is written there, not where they are asked."""
    between = [flow[n] for n in ancestors(flow, root.id) if op.id in ancestors(flow, n)]
    here = {(o.site.file, o.site.function) for o in (op, root) if o.site}
    means = [o for o in between if o.kind in REDUCTIONS and o.site and (o.site.file, o.site.function) in here]
    return min(means, key=lambda o: len(ancestors(flow, o.id)), default=op)


def _cause(situation: Situation, optimizer: Optimizer, backward: Backward, op: Op) -> ValueSign:
    root = backward.flow[backward.roots[0]]
    site = op.site if op.site and root.site and op.site.file == root.site.file else root.site
    elsewhere = root.site is not None and site is not None and site.function != root.site.function
    inside = site is not None and site.function in ("forward", "call", "__call__")
    layer = any(backward.flow.parameter(i) is not None for i in op.inputs) or adds_bias(backward.flow, op)
    if inside or (elsewhere and layer):
        site = root.site
    elif layer:
        site = _summed_up(backward.flow, op, root).site or site
    return ValueSign(
        site=site,
        subjects=situation.parameters(backward.applied & optimizer.held),
        chain=(Step.at(site, op.name, mark=Mark.HERE),),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=root.site,
        first_update=1,
        updates=optimizer.steps,
    )
