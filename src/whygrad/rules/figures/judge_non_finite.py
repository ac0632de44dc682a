"""NaN and Inf: the first operation that made one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from typing import Any

from whygrad.flow.data import made
from whygrad.flow.magnitudes import LARGE
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.model import (
    Backward,
    Confidence,
    Flow,
    Kind,
    Look,
    Mark,
    Op,
    Optimizer,
    Parameter,
    Pulse,
    Site,
    Step,
    Update,
)
from whygrad.model.kinds import SINGULAR, UNDEFINED
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import Dialect, dialect_of
from whygrad.rules.figures.non_finite import NonFinite

_BY_A_NUMBER = frozenset((Kind.DIVIDE, Kind.POWER))  # give none if the user wrote the second argument


def broken_numbers(situation: Situation) -> Iterator[Cause]:
    """The first loss, gradient or weight that is not finite; what comes after it follows from it."""
    losses = [b for b in situation.backwards if b.value is not None and not isfinite(b.value)]
    updates = [u for u in situation.evidence.updates if not all(map(isfinite, u.largest.values()))]
    events: list[Backward | Update] = [*losses, *updates]
    first = min(events, key=lambda event: event.time, default=None)
    if isinstance(first, Backward):
        yield _of_loss(situation, first)
    elif first is not None:
        yield _of_gradient(situation, first)
    if first is not None:
        return
    for optimizer in situation.evidence.optimizers.values():
        pulses = situation.evidence.pulses.get(optimizer.key, ())
        late = next((p for p in pulses if not isfinite(p.top)), None)
        look = next((look for look in situation.evidence.looks.get(optimizer.key, ()) if _broken(look)), None)
        if look is not None:
            yield _compiled(situation, optimizer, look)
        elif late is not None:
            yield _unrecorded(situation, optimizer, late)


def _of_loss(situation: Situation, backward: Backward) -> Cause:
    """The value behind the loss that was the first to be broken."""
    first = _first(backward)
    update = next((u for u in situation.evidence.updates if backward in u.backwards), None)
    keys = backward.applied or backward.reached
    root = backward.flow[backward.roots[0]]
    calling = Step.at(backward.site, _here(situation).differentiate)
    if first is None:
        loss = Step("the loss", root.site, mark=Mark.BROKEN)
        common = _common(situation, backward.site, keys, (loss, calling), update)
        return NonFinite(value=backward.value, **common)
    maker = _unlooked(backward.flow, first)
    certain = Confidence.CERTAIN if first.parameter is None and maker is first else Confidence.LIKELY
    first = maker
    steps = (Step(first.name, made(first), mark=Mark.BROKEN), Step("the loss", root.site), calling)
    return NonFinite(
        value=backward.value,
        op=first.name,
        entered=first.fresh,
        single=bool(first.shape) and all(n == 1 for n in first.shape),
        weight=_weight(situation, first),
        **_common(situation, made(first), keys, steps, update, certain),
    )


def _first(backward: Backward) -> Op | None:
    """Of the values that were looked at and are broken, the one that was made first."""
    cone = {n for root in backward.roots for n in ancestors(backward.flow, root)}
    broken = [op for n in cone if (op := backward.flow[n]).values is not None and not op.values.finite]
    made = [op for op in broken if op.parameter is None]
    weights = [op for op in broken if op.parameter is not None]
    return min(weights or made, key=lambda op: op.time, default=None)


def _unlooked(flow: Flow, first: Op) -> Op:
    """The first broken value, or the operation behind it that may have made it and was gone before the look.

    Only through values that nobody has looked at, and only to operations that give NaN or Inf for arguments
    that are finite: the last of them.
    """
    if first.kind in UNDEFINED or first.fresh or first.parameter is not None:
        return first
    todo, seen, found = [first], {first.id}, list[Op]()
    while todo:
        before = [flow[i] for i in todo.pop().inputs if i in flow.ops and i not in seen]
        unknown = [op for op in before if op.values is None and op.parameter is None]
        seen |= {op.id for op in unknown}
        found += [op for op in unknown if op.kind in UNDEFINED and op.site and not _by_a_number(op)]
        todo += unknown
    return max(found, key=lambda op: op.time, default=first)


def _by_a_number(op: Op) -> bool:
    return bool(op.numbers) and not op.swapped and op.kind in _BY_A_NUMBER


def _weight(situation: Situation, op: Op) -> Parameter | None:
    return situation.evidence.parameters.get(op.parameter) if op.parameter else None


def _of_gradient(situation: Situation, update: Update) -> Cause:
    """The loss was finite and its gradient is not: an operation whose derivative is infinite."""
    keys = frozenset(k for k, top in update.largest.items() if not isfinite(top))
    backward = next((b for b in reversed(update.backwards) if b.reached & keys), None)
    if backward is None:
        return NonFinite(gradient=True, **_common(situation, update.site, keys, (), update))
    calling = Step.at(backward.site, _here(situation).differentiate)
    op = _singular(situation, backward, keys)
    if op is None:
        return NonFinite(gradient=True, **_common(situation, backward.site, keys, (calling,), update))
    steps = (Step(op.name, op.site, mark=Mark.BROKEN), calling)
    return NonFinite(gradient=True, op=op.name, **_common(situation, op.site, keys, steps, update))


def _singular(situation: Situation, backward: Backward, keys: frozenset[int]) -> Op | None:
    """An operation on the way whose derivative can be infinite, the nearest to the loss."""
    path = situation.reach(backward).path(min(keys & backward.reached))
    on_way = [op for op in path.ops if op.kind in SINGULAR] if path is not None else []
    if not on_way:
        living = situation.living(backward)
        on_way = [op for n in living if (op := backward.flow[n]).kind in SINGULAR]
        on_way.sort(key=lambda op: op.time)
    touching = [op for op in on_way if op.values is not None and op.values.nearest == 0]
    return next(reversed(touching or on_way), None)


def _broken(look: Look) -> bool:
    numbers = (*look.largest.values(), 0.0 if look.loss is None else look.loss)
    return not all(map(isfinite, numbers))


def _compiled(situation: Situation, optimizer: Optimizer, look: Look) -> Cause:
    """In compiled code no value is looked at but the loss and the gradients."""
    update = next(iter(reversed(situation.updates(optimizer))), None)
    backward = update.backwards[-1] if update is not None and update.backwards else None
    keys = frozenset(k for k, top in look.largest.items() if not isfinite(top)) or optimizer.held
    op = _suspect(situation, optimizer, look, backward, keys) if backward is not None else None
    site = op.site if op is not None else backward.site if backward is not None else optimizer.made
    step = Step.at(site, _here(situation).step, mark=Mark.BROKEN)
    steps = (Step(op.name, site, mark=Mark.BROKEN) if op is not None else step,)
    found = NonFinite(
        gradient=_in_gradient(look),
        compiled=True,
        value=look.loss,
        op=op.name if op is not None else "",
        **_common(situation, site, keys, steps, update),
    )
    return replace(found, optimizer=optimizer.name, first_update=look.number, updates=optimizer.steps)


def _in_gradient(look: Look) -> bool:
    return look.loss is not None and isfinite(look.loss)


def _suspect(
    situation: Situation, optimizer: Optimizer, look: Look, backward: Backward, keys: frozenset[int]
) -> Op | None:
    """The operation that may have made it, where that can be told from the graph alone."""
    if _in_gradient(look):
        return _singular(situation, backward, keys) if keys & backward.reached else None
    return _only_suspect(backward) if _calm_before(situation, optimizer, look) else None


def _calm_before(situation: Situation, optimizer: Optimizer, look: Look) -> bool:
    """Did it come at once? Where gradients had exploded before, any operation may have overflowed."""
    before = [p for p in situation.evidence.pulses.get(optimizer.key, ()) if p.number < look.number]
    return all(p.top < LARGE for p in before)


def _only_suspect(backward: Backward) -> Op | None:
    """The operation that gives NaN or Inf for some arguments, if there is just one behind the loss."""
    cone = {n for root in backward.roots for n in ancestors(backward.flow, root)}
    suspects = [op for n in cone if (op := backward.flow[n]).kind in UNDEFINED and op.site]
    found = [op for op in suspects if not _by_a_number(op) and not _guarded(backward.flow, op)]
    unshared = [op for op in found if not _shares(backward.flow, op)]
    found = found if len(found) == 1 else unshared
    return found[0] if len(found) == 1 else None


def _guarded(flow: Flow, op: Op) -> bool:
    """``log(p + 1e-8)``, ``log(max(p, 1e-8))``: kept from zero by a number."""
    before = flow[op.inputs[0]] if op.kind is Kind.LOG and op.inputs else None
    kept = before is not None and before.kind in (Kind.ADD, Kind.BOUND) and len(before.inputs) == 1
    return kept and before is not None and any(0 < number < 1 for number in before.numbers)


def _shares(flow: Flow, op: Op) -> bool:
    """``p / p.sum()``: not defined where all of them are zero, which is rare."""
    if op.kind is not Kind.DIVIDE or len(op.inputs) != 2:
        return False
    total = flow[op.inputs[1]]
    return total.kind is Kind.SUM and total.inputs[:1] == op.inputs[:1]


def _unrecorded(situation: Situation, optimizer: Optimizer, pulse: Pulse) -> Cause:
    keys = frozenset(k for k, top in pulse.largest.items() if not isfinite(top))
    update = next((u for u in reversed(situation.updates(optimizer))), None)
    site = update.site if update is not None else optimizer.made
    return NonFinite(
        site=site,
        subjects=situation.parameters(keys),
        chain=(Step.at(site, _here(situation).step, mark=Mark.BROKEN),),
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        first_update=pulse.number,
        updates=optimizer.steps,
        gradient=True,
        recorded=False,
    )


def _common(
    situation: Situation,
    site: Site | None,
    keys: frozenset[int],
    steps: tuple[Step, ...],
    update: Update | None,
    confidence: Confidence = Confidence.LIKELY,
) -> dict[str, Any]:
    optimizer = situation.evidence.optimizers.get(update.optimizer) if update is not None else None
    return {
        "site": site,
        "subjects": situation.parameters(keys),
        "chain": steps,
        "confidence": confidence,
        "optimizer": optimizer.name if optimizer is not None else "",
        "first_update": update.number if update is not None else 0,
        "updates": optimizer.steps if optimizer is not None else 0,
    }


def _here(situation: Situation) -> Dialect:
    return dialect_of(situation.evidence.framework)
