"""Gradients that arrive and are exactly zero: dead ReLUs, saturated outputs, a factor that is zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.flow.data import made
from whygrad.flow.facts import facts
from whygrad.flow.paths import ancestors, living_values, stops
from whygrad.flow.situation import Situation
from whygrad.model import (
    Backward,
    Confidence,
    Flow,
    Kind,
    Mark,
    Op,
    Optimizer,
    Severity,
    Site,
    Step,
    Update,
)
from whygrad.model.kinds import EXTREMES, SCALES
from whygrad.rules.cause import Cause
from whygrad.rules.figures.zero_gradient import LIMITS, Zeroed, ZeroGradient

_SATURATES = {Kind.TANH: Zeroed.TANH, Kind.SIGMOID: Zeroed.SIGMOID}
_WRITTEN_OUT = frozenset(
    (
        Zeroed.DIFFERENCE,
        Zeroed.WEIGHTS,
        Zeroed.BOUND,
        Zeroed.OTHER_SIDE,
        Zeroed.NUMBER,
        Zeroed.PAIR,
        Zeroed.LABELS,
    )
)
_CLIPS = EXTREMES | {Kind.BOUND}
_OF_LABELS = frozenset((Kind.CROSS_ENTROPY, Kind.PICKED_LOG))
_FLAT_AT_ZERO = frozenset((Kind.POWER, Kind.MAGNITUDE))


@dataclass(frozen=True, slots=True)
class _Stop:
    """The operation that multiplies the gradient with zero, why, and the value that is to blame."""

    op: Op
    how: Zeroed
    culprit: Op


def zeros(situation: Situation) -> Iterator[Cause]:
    """Parameters whose gradient was exactly zero whenever it was looked at, or is so since some update."""
    yield from _over_one_element(situation)
    for optimizer in situation.evidence.optimizers.values():
        for since, keys in _dead(situation, optimizer).items():
            update, left = _looked_into(situation, optimizer, keys), keys
            while left and update is not None:
                cause, explained = _explain(situation, optimizer, update, left, since)
                left -= explained
                if cause is not None:
                    yield cause


def _dead(situation: Situation, optimizer: Optimizer) -> dict[int, frozenset[int]]:
    """Since when (0: always) -> the parameters whose gradient is zero."""
    found: dict[int, set[int]] = {}
    for key, fact in facts(situation, optimizer).items():
        if fact.dies(optimizer.steps):
            found.setdefault(fact.since, set()).add(key)
    return {since: frozenset(keys) for since, keys in found.items()}


def _looked_into(situation: Situation, optimizer: Optimizer, keys: frozenset[int]) -> Update | None:
    """The last update with these zeros and with values in it; of a compiled one the record has no zeros."""
    updates = [u for u in situation.updates(optimizer) if u.backwards]
    zero = [u for u in updates if u.zero & keys] or updates
    known = [u for u in zero if any(op.values for b in u.backwards for op in b.flow.ops.values())]
    return next(reversed(known or zero), None)


def _explain(
    situation: Situation, optimizer: Optimizer, update: Update, keys: frozenset[int], since: int
) -> tuple[Cause | None, frozenset[int]]:
    """Why the first of these has no gradient, and which others are explained by the same."""
    for backward in reversed(update.backwards):
        mine = keys & backward.reached
        if not mine:
            continue
        stop = _stop(situation, backward, min(mine)) or _unmeasured(situation, optimizer, backward, mine)
        if stop is None:
            continue
        behind = frozenset(
            k for n in ancestors(backward.flow, stop.op.id) if (k := backward.flow[n].parameter) is not None
        )
        explained = (mine & behind) | {min(mine)}
        return _cause(situation, optimizer, backward, stop, explained, since), explained
    return None, keys


def _stop(situation: Situation, backward: Backward, key: int) -> _Stop | None:
    """The operation nearest to the loss beyond which nothing but zeros can come."""
    path = situation.reach(backward).path(key)
    if path is None or not path.living:
        return None
    for position in range(len(path.ops) - 1, 0, -1):
        op, source = path.ops[position], path.ops[position - 1]
        found = _kills(backward.flow, op, source)
        if found is not None and key not in _beside(backward, op):
            return found
    return None


def _unmeasured(
    situation: Situation, optimizer: Optimizer, backward: Backward, keys: frozenset[int]
) -> _Stop | None:
    """All that the optimizer was given is zero, and on the way is a clip whose values nobody has seen."""
    path = situation.reach(backward).path(min(keys))
    given = {key for key, fact in facts(situation, optimizer).items() if fact.looked}
    if path is None or not path.living or not given <= keys:
        return None
    clips = [op for op in path.ops if op.kind in _CLIPS and op.values is None and _says_clip(op)]
    return _Stop(clips[-1], Zeroed.BOUND, clips[-1]) if clips else None


def _says_clip(op: Op) -> bool:
    return op.site is not None and "cl" in op.site.code


def _kills(flow: Flow, op: Op, source: Op) -> _Stop | None:
    """Is the derivative of ``op`` by ``source`` zero everywhere?"""
    kind = op.kind
    others = [flow[i] for i in op.inputs if i != source.id]
    if kind is Kind.RELU and _zero(op):
        return _Stop(op, Zeroed.RELU, op)
    if kind in _SATURATES and _saturated(_SATURATES[kind], op, source):
        return _Stop(op, _SATURATES[kind], op)
    if kind in _CLIPS and _apart(source, op):
        limited = kind is Kind.BOUND or not any(o.carries for o in others)
        return _Stop(op, Zeroed.BOUND if limited else Zeroed.OTHER_SIDE, op)
    if kind in SCALES and 0.0 in op.numbers and not op.swapped:
        return _Stop(op, Zeroed.NUMBER, op)
    if kind is Kind.MULTIPLY and any(_zero(o) for o in others):
        return _Stop(op, Zeroed.FACTOR, next(o for o in others if _zero(o)))
    if kind is Kind.LINEAR and len(op.inputs) == 2 and _zero(source) and all(map(_zero, others)):
        return _Stop(op, Zeroed.PAIR, op)
    if kind in _OF_LABELS and _zero(op):
        return _Stop(op, Zeroed.LABELS, op)
    if kind is Kind.LINEAR and any(_zero(o) and o.parameter is not None for o in others):
        return _Stop(op, Zeroed.WEIGHTS, next(o for o in others if _zero(o)))
    if (kind in _FLAT_AT_ZERO and not op.swapped and _zero(source)) or (kind is Kind.LOSS and _zero(op)):
        return _Stop(op, Zeroed.DIFFERENCE, op if kind is Kind.LOSS else source)
    return None


def _saturated(kind: Zeroed, op: Op, source: Op) -> bool:
    """So far out that its result is rounded to its limit; of compiled code only the result is known."""
    if source.values is not None:
        return source.values.nearest > LIMITS[kind]
    below = kind is Zeroed.SIGMOID and _zero(op)
    return op.values is not None and (op.values.nearest >= 1.0 or below)


def _apart(source: Op, op: Op) -> bool:
    """None of the numbers that went in came out: all of them lie on one side of all that came out."""
    if source.values is None or op.values is None:
        return False
    return source.values.most < op.values.least or source.values.least > op.values.most


def _zero(op: Op) -> bool:
    return op.values is not None and op.values.all_zero


def _beside(backward: Backward, *ops: Op) -> frozenset[int]:
    """The parameters that gradient other than zero reaches without going through these operations."""
    flow, found, closed = backward.flow, set[int](), {op.id for op in ops}
    todo = [r for r in backward.roots if r in flow.ops and r not in closed]
    seen = {*closed, *todo}
    while todo:
        here = flow[todo.pop()]
        if here.parameter is not None:
            found.add(here.parameter)
        for i in here.inputs:
            open_way = i not in seen and flow[i].carries and not stops(flow[i], here)
            if open_way and _kills(flow, here, flow[i]) is None:
                seen.add(i)
                todo.append(i)
    return frozenset(found)


def _cause(
    situation: Situation,
    optimizer: Optimizer,
    backward: Backward,
    stop: _Stop,
    keys: frozenset[int],
    since: int = 0,
) -> Cause:
    site, computed, centred = _blame(situation, optimizer, backward.flow, stop)
    grave = Severity.WARNING if since else Severity.ERROR
    return ZeroGradient(
        site=site,
        subjects=situation.parameters(keys),
        chain=tuple(_chain(situation, keys, stop, site)),
        severity=grave if computed else Severity.NOTE,
        confidence=Confidence.LIKELY if since else Confidence.CERTAIN,
        optimizer=optimizer.name,
        loss=backward.site,
        first_update=since or 1,
        updates=optimizer.steps,
        since=since,
        how=stop.how,
        centred=centred,
        multiplied=stop.op.site,
    )


def _blame(
    situation: Situation, optimizer: Optimizer, flow: Flow, stop: _Stop
) -> tuple[Site | None, bool, bool]:
    """The line, whether it computes the zeros (those of data may be meant), and whether by a mean of one."""
    if stop.how is not Zeroed.FACTOR:
        return _line(situation, flow, stop), True, False
    origin = _origin(flow, stop.culprit, _always_zero(situation, optimizer))
    site = made(origin)
    one = all(n == 1 for n in stop.culprit.shape)
    computed = one or not origin.fresh or site != origin.site
    return site, computed, one and site is not None and "mean(" in site.code


def _chain(situation: Situation, keys: frozenset[int], stop: _Stop, site: Site | None) -> Iterator[Step]:
    first = situation.parameters(keys)[0]
    yield Step(first.name, first.made[0] if first.made else None)
    if stop.how is Zeroed.FACTOR:
        yield Step("is zero, in every element", site, mark=Mark.FLAT)
        if stop.op.site is not None and stop.op.site != site:
            yield Step(stop.op.site.code, stop.op.site)
    else:
        yield Step.at(stop.op.site, stop.op.name, mark=Mark.FLAT)


def _line(situation: Situation, flow: Flow, stop: _Stop) -> Site | None:
    """Where a person would change it: the call if it is written there, else the layer before it."""
    site = stop.op.site
    elsewhere = stop.how in _WRITTEN_OUT
    if elsewhere or site is None or stop.op.name.strip("_") in site.code.lower():
        return site
    return _layer_before(situation, flow, stop.op) or site


def _layer_before(situation: Situation, flow: Flow, op: Op) -> Site | None:
    """Where the layer was made whose result goes into this operation."""
    for _ in range(8):
        for source in (flow[i] for i in op.inputs):
            known = situation.evidence.parameters.get(flow.parameter(source.id) or 0)
            if known is not None and known.made:
                return known.made[0]
        if not op.inputs:
            break
        op = flow[op.inputs[0]]
    return None


def _always_zero(situation: Situation, optimizer: Optimizer) -> frozenset[tuple[Site | None, str]]:
    """The operations whose results were zero in every update in which they were looked at."""
    zero: set[tuple[Site | None, str]] = set()
    more: set[tuple[Site | None, str]] = set()
    for update in situation.updates(optimizer):
        for op in (op for b in update.backwards for op in b.flow.ops.values() if op.values is not None):
            (zero if _zero(op) else more).add((op.site, op.name))
    return frozenset(zero - more)


def _origin(flow: Flow, op: Op, always: frozenset[tuple[Site | None, str]]) -> Op:
    """The first value on the way that is always zero and was not made of such values."""
    for _ in range(64):
        before = [flow[i] for i in op.inputs if (flow[i].site, flow[i].name) in always]
        if not before or op.fresh:
            return op
        op = before[0]
    return op


def _over_one_element(situation: Situation) -> Iterator[Cause]:
    """A softmax over one element is always 1, and its derivative is zero."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        living = situation.living(backward)
        found = [
            backward.flow[n] for n in living if backward.flow[n].kind in (Kind.SOFTMAX, Kind.LOG_SOFTMAX)
        ]
        alone = [op for op in found if op.axes and op.shape[op.axes[0] : op.axes[0] + 1] == (1,)]
        for op in sorted(alone, key=lambda o: o.time):
            if op.site in done:
                continue
            done.add(op.site)
            each = [other for other in alone if other.site == op.site]  # one for each step of a rollout
            keys = _behind(backward, op.id) - _beside(backward, *each)
            holders = [o for k in keys for o in situation.holders.get(k, ())]
            if holders:
                yield _cause(situation, holders[0], backward, _Stop(op, Zeroed.SOFTMAX, op), keys)


def _behind(backward: Backward, op: int) -> frozenset[int]:
    keys = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in keys if k is not None)
