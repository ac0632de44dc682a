"""Losses that make the policy worse: the score is minimised where it should be maximised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.flow.layers import adds_bias
from whygrad.flow.paths import living_values
from whygrad.flow.scores import is_probability, is_score, scored
from whygrad.model import Backward, Confidence, Flow, Op, Optimizer, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_PLUS = frozenset(("add", "radd", "iadd", "stack", "cat"))
_TIMES = frozenset(("mul", "rmul", "multiply", "imul"))
_SAME = frozenset(
    (
        "mean",
        "sum",
        "nanmean",
        "squeeze",
        "unsqueeze",
        "view",
        "reshape",
        "flatten",
        "clone",
        "to",
        "float",
        "contiguous",
        "min",
        "max",
        "minimum",
        "maximum",
        "gather",
        "getitem",
        "cast",
        "strided_slice",
    )
)
_MOST = 2000
_LOG_PROBS = ("Categorical.log_prob", "Normal.log_prob", "Independent.log_prob")


@dataclass(frozen=True, slots=True)
class Signed:
    """A part of the loss that is not a sum any more, and the sign with which it enters."""

    op: Op
    sign: int


def signs(situation: Situation) -> Iterator[Cause]:
    """One cause per loss whose every policy term has the wrong sign."""
    done: set[Site | None] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer) if not optimizer.maximize else ():
            for backward in update.backwards:
                if not backward.applied & optimizer.held or backward.follower != optimizer.key:
                    continue
                op = _wrong(situation, optimizer, backward)
                if op is not None and op.site not in done:
                    done.add(op.site)
                    yield _cause(situation, optimizer, backward, op)


def _wrong(situation: Situation, optimizer: Optimizer, backward: Backward) -> Op | None:
    parts = [p for root in backward.roots for p in _signed(backward.flow, root)]
    scores = [(p, _score_sign(situation, backward, p)) for p in parts]
    known = [(p, sign) for p, sign in scores if sign]
    if known:
        return known[0][0].op if all(sign > 0 for _, sign in known) else None
    critics = [p for p in parts if _is_critic(situation, optimizer, backward, p.op)]
    return critics[0].op if critics and all(p.sign > 0 for p in critics) else None


def _signed(flow: Flow, root: int) -> Iterator[Signed]:
    """The parts of a loss with their signs, through sums, means and constant factors."""
    todo = [(root, 1)]
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        here, sign = todo.pop()
        op = flow[here]
        name = op.name.strip("_")
        if here in seen or not op.carries:
            continue
        seen.add(here)
        inputs = [i for i in op.inputs if flow[i].carries]
        if is_score(op) or adds_bias(flow, op):
            yield Signed(op, sign)
        elif name == "neg":
            todo.extend((i, -sign) for i in inputs)
        elif name in _PLUS or (name in _SAME and inputs and op.parameter is None):
            todo.extend((i, sign) for i in inputs)
        elif name in ("sub", "rsub") and len(op.inputs) == 2:
            first, second = (sign, -sign) if name == "sub" else (-sign, sign)
            pairs = zip(op.inputs, (first, second), strict=True)
            todo.extend((i, s) for i, s in pairs if flow[i].carries)
        elif name == "rsub":
            todo.extend((i, -sign) for i in inputs)
        elif name in (*_TIMES, "div", "truediv", "sub") and len(op.inputs) == 1 and inputs:
            flipped = name in (*_TIMES, "div", "truediv") and op.numbers and op.numbers[0] < 0
            todo.append((inputs[0], -sign if flipped else sign))
        else:
            yield Signed(op, sign)


def _score_sign(situation: Situation, backward: Backward, part: Signed) -> int:
    """+1 if a product of log-probability and advantage is minimised, -1 if maximised, 0 if it is neither."""
    op, flow = part.op, backward.flow
    if op.name.strip("_") not in _TIMES or len(op.inputs) != 2:
        return 0
    live = [flow[i] for i in op.inputs if flow[i].carries]
    data = [flow[i] for i in op.inputs if not flow[i].carries]
    if len(live) != 1 or len(data) != 1 or not data[0].floating:
        return 0
    log_sign = _log_probability(flow, live[0], backward.tape)
    return part.sign * log_sign * _orientation(situation, backward, data[0]) if log_sign else 0


def _log_probability(flow: Flow, op: Op, tape: bool) -> int:
    """The sign of a plain log-probability; 0 for anything else, an entropy among them."""
    found = 0
    for part in _signed(flow, op.id):
        sign = _logarithm(flow, part.op, tape)
        if not sign:
            return 0
        found = found or part.sign * sign
    return found


def _logarithm(flow: Flow, op: Op, tape: bool) -> int:
    """+1 for a log-probability, -1 for a cross entropy per sample, 0 for neither."""
    if op.api.endswith(_LOG_PROBS) or op.name == "log_softmax":
        return 1
    if op.name == "exp" and _is_ratio(flow, op):
        return 1
    if not tape:
        return 0
    if op.api.rpartition(".")[2] == "log_prob" or (
        op.name == "log" and any(is_probability(flow, i) for i in op.inputs)
    ):
        return 1
    return -1 if op.name == "cross_entropy" and op.shape else 0


def _is_ratio(flow: Flow, op: Op) -> bool:
    """``exp(log_prob - old_log_prob)``, which grows with the log-probability."""
    inner = flow[op.inputs[0]] if len(op.inputs) == 1 else None
    if inner is None or inner.name != "sub" or len(inner.inputs) != 2:
        return False
    new, old = (flow[i] for i in inner.inputs)
    return new.carries and not old.carries and scored(flow, new.id)


def _orientation(situation: Situation, backward: Backward, factor: Op) -> int:
    """+1 for a return, or a return minus a value; -1 the other way round; 0 if nobody knows."""
    parts = situation.parts(backward)
    addends = parts.addends(factor.id)
    data = {a.sign for a in addends if a.data}
    values = {a.sign for a in addends if not a.data}
    if not values:
        return _negations(backward.flow, factor)
    return 1 if data == {1} and values == {-1} else -1 if data == {-1} else 0


def _negations(flow: Flow, op: Op) -> int:
    sign = 1
    for _ in range(12):
        name = op.name.strip("_")
        if op.fresh or op.parameter is not None or len(op.inputs) != 1:
            return (
                sign if op.fresh or not op.inputs or name in ("sub", "stack", "cat", "div", "truediv") else 0
            )
        if name == "neg" or (name in _TIMES and op.numbers and op.numbers[0] < 0):
            sign = -sign
        elif name == "rsub":
            return 0
        op = flow[op.inputs[0]]
    return 0


def _is_critic(situation: Situation, optimizer: Optimizer, backward: Backward, op: Op) -> bool:
    """Is this the output of a network that another loss regresses on rewards, led by what we train?"""
    keys = {flow_op.parameter for n in living_values(backward.flow, [op.id]) if (flow_op := backward.flow[n])}
    behind = situation.parts(backward).behind(op.id)  # a critic that is frozen for the time is one, too
    if not keys & optimizer.held or op.name.strip("_") in ("mse_loss", "log_softmax", "pow"):
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


def _cause(situation: Situation, optimizer: Optimizer, backward: Backward, op: Op) -> Cause:
    root = backward.flow[backward.roots[0]]
    site = op.site if op.site and root.site and op.site.file == root.site.file else root.site
    elsewhere = root.site is not None and site is not None and site.function != root.site.function
    inside = site is not None and site.function in ("forward", "call", "__call__")
    if inside or (elsewhere and adds_bias(backward.flow, op)):
        site = root.site
    return Cause(
        "value-sign",
        site,
        situation.parameters(backward.applied & optimizer.held),
        (Step(site.code if site else op.name, site, cut=True),),
        {},
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=root.site,
        first_update=1,
        updates=optimizer.steps,
    )
