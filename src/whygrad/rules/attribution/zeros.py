"""Gradients that arrive and are exactly zero: dead ReLUs, saturated outputs, a factor that is zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.flow.data import made
from whygrad.flow.paths import ancestors, living_values, stops
from whygrad.model import Backward, Confidence, Flow, Op, Optimizer, Severity, Site, Step, Update
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_RELU = frozenset(("relu", "relu6", "threshold"))
_SATURATES = {"tanh": 9.1, "sigmoid": 17.0}  # beyond these, float32 rounds the result to its limit
_SOFTMAX = frozenset(("softmax", "log_softmax"))
_TIMES = frozenset(("mul", "rmul", "multiply", "imul"))
_WEIGHTS = frozenset(("linear", "matmul", "mm", "addmm", "bmm"))
_SQUARES = frozenset(("pow", "square", "abs"))
_LOSSES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "squared_difference"))
_LEAST = 3  # updates in all of which a gradient is zero


@dataclass(frozen=True, slots=True)
class _Stop:
    """The operation that multiplies the gradient with zero, why, and the value that is to blame."""

    op: Op
    how: str
    culprit: Op


def zeros(situation: Situation) -> Iterator[Cause]:
    """Parameters whose gradient was exactly zero in every update that was looked at."""
    yield from _over_one_element(situation)
    for optimizer in situation.evidence.optimizers.values():
        update, left = _always(situation, optimizer)
        while left and update is not None:
            cause, explained = _explain(situation, optimizer, update, left)
            left -= explained
            if cause is not None:
                yield cause


def _always(situation: Situation, optimizer: Optimizer) -> tuple[Update | None, frozenset[int]]:
    """An update with values in it, and the parameters whose gradient was zero in all."""
    updates = [u for u in situation.updates(optimizer) if u.backwards]
    looks = situation.evidence.looks.get(optimizer.key, ())
    if len(updates) >= _LEAST and not looks:
        return updates[-1], frozenset.intersection(*(u.zero for u in updates))
    if len(looks) < _LEAST or not updates:
        return None, frozenset()
    zero = [frozenset(k for k, top in look.largest.items() if top == 0) for look in looks]
    known = [u for u in updates if any(op.values for b in u.backwards for op in b.flow.ops.values())]
    return (known or updates)[-1], frozenset.intersection(*zero)


def _explain(
    situation: Situation, optimizer: Optimizer, update: Update, keys: frozenset[int]
) -> tuple[Cause | None, frozenset[int]]:
    """Why the first of these has no gradient, and which others are explained by the same."""
    for backward in reversed(update.backwards):
        mine = keys & backward.reached
        if not mine:
            continue
        stop = _stop(situation, backward, min(mine))
        if stop is None:
            continue
        behind = frozenset(
            k for n in ancestors(backward.flow, stop.op.id) if (k := backward.flow[n].parameter) is not None
        )
        explained = (mine & behind) | {min(mine)}
        return _cause(situation, optimizer, backward, stop, explained), explained
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


def _kills(flow: Flow, op: Op, source: Op) -> _Stop | None:
    """Is the derivative of ``op`` by ``source`` zero everywhere?"""
    name = op.name.strip("_")
    others = [flow[i] for i in op.inputs if i != source.id]
    if name in _RELU and _zero(op):
        return _Stop(op, "relu", op)
    if name in _SATURATES and _saturated(name, op, source):
        return _Stop(op, name, op)
    if name in _TIMES and any(_zero(o) for o in others):
        return _Stop(op, "factor", next(o for o in others if _zero(o)))
    if name in _WEIGHTS and any(_zero(o) and o.parameter is not None for o in others):
        return _Stop(op, "weights", next(o for o in others if _zero(o)))
    if (name in _SQUARES and _zero(source)) or (name in _LOSSES and _zero(op)):
        return _Stop(op, "difference", source if name in _SQUARES else op)
    return None


def _saturated(name: str, op: Op, source: Op) -> bool:
    """So far out that its result is rounded to its limit; of compiled code only the result is known."""
    if source.values is not None:
        return source.values.nearest > _SATURATES[name]
    return op.values is not None and (op.values.nearest >= 1.0 or (name == "sigmoid" and _zero(op)))


def _zero(op: Op) -> bool:
    return op.values is not None and op.values.all_zero


def _beside(backward: Backward, op: Op) -> frozenset[int]:
    """The parameters that gradient other than zero reaches without going through this operation."""
    flow, found = backward.flow, set[int]()
    todo = [r for r in backward.roots if r in flow.ops and r != op.id]
    seen = {op.id, *todo}
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
    situation: Situation, optimizer: Optimizer, backward: Backward, stop: _Stop, keys: frozenset[int]
) -> Cause:
    origin = (
        _origin(backward.flow, stop.culprit, _always_zero(situation, optimizer))
        if stop.how == "factor"
        else stop.culprit
    )
    site = made(origin) if stop.how == "factor" else _line(situation, backward.flow, stop)
    one = stop.how == "factor" and all(n == 1 for n in stop.culprit.shape)
    computed = stop.how != "factor" or one or not origin.fresh or site != origin.site
    details = {
        "how": stop.how,
        "one": "yes" if one else "",
        "mean": "yes" if site is not None and "mean(" in site.code else "",
        "line": str(stop.op.site.line) if stop.op.site else "",
        "op": stop.op.name,
    }
    return Cause(
        "zero-gradient",
        site,
        situation.parameters(keys),
        tuple(_chain(situation, keys, stop, site)),
        details,
        severity=Severity.ERROR if computed else Severity.NOTE,
        confidence=Confidence.CERTAIN,
        optimizer=optimizer.name,
        loss=backward.site,
        first_update=1,
        updates=optimizer.steps,
    )


def _chain(situation: Situation, keys: frozenset[int], stop: _Stop, site: Site | None) -> Iterator[Step]:
    first = situation.parameters(keys)[0]
    yield Step(first.name, first.made[0] if first.made else None)
    if stop.how == "factor":
        yield Step("is zero, in every element", site, cut=True)
        if stop.op.site is not None and stop.op.site != site:
            yield Step(stop.op.site.code, stop.op.site)
    else:
        yield Step(stop.op.site.code if stop.op.site else stop.op.name, stop.op.site, cut=True)


def _line(situation: Situation, flow: Flow, stop: _Stop) -> Site | None:
    """Where a person would change it: the call if it is written there, else the layer before it."""
    site = stop.op.site
    if stop.how in ("difference", "weights") or site is None or stop.op.name.strip("_") in site.code.lower():
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
        found = [backward.flow[n] for n in living if backward.flow[n].name in _SOFTMAX]
        for op in sorted(found, key=lambda o: o.time):
            known = op.numbers or situation.evidence.framework == "tensorflow"  # there it is the last one
            if not op.shape or op.site in done or not known or op.shape[_along(op)] != 1:
                continue
            done.add(op.site)
            keys = _behind(backward, op.id) - _beside(backward, op)
            holders = [o for k in keys for o in situation.holders.get(k, ())]
            if holders:
                yield _cause(situation, holders[0], backward, _Stop(op, "softmax", op), keys)


def _along(op: Op) -> int:
    dimension = int(op.numbers[0]) if op.numbers else -1
    return dimension if -len(op.shape) <= dimension < len(op.shape) else -1


def _behind(backward: Backward, op: int) -> frozenset[int]:
    keys = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in keys if k is not None)
