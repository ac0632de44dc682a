"""NaN and Inf: the first operation that made one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite

from whygrad.flow.data import made
from whygrad.flow.paths import ancestors
from whygrad.model import Backward, Confidence, Look, Op, Optimizer, Pulse, Site, Step, Update
from whygrad.rules.attribution.magnitudes import LARGE
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

# Their derivative is infinite somewhere: at zero, most of them.
_SINGULAR = frozenset(("sqrt", "rsqrt", "norm", "vector_norm", "std", "var", "log", "acos", "asin", "atan2"))
# They give NaN or Inf for arguments that are finite.
_UNDEFINED = frozenset(
    ("log", "exp", "expm1", "div", "rdiv", "sqrt", "rsqrt", "pow", "rpow", "reciprocal", "acos", "atanh")
)
_BY_A_NUMBER = frozenset(("div", "pow"))  # give none if the user wrote the second argument


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
    site = made(first) if first is not None else backward.site
    update = next((u for u in situation.evidence.updates if backward in u.backwards), None)
    keys = backward.applied or backward.reached
    steps = [Step(first.name, site, cut=True)] if first is not None else []
    root = backward.flow[backward.roots[0]]
    steps += [Step("the loss", root.site), Step(_code(backward.site, "backward()"), backward.site)]
    details = {
        "op": first.name if first is not None else "",
        "value": f"{backward.value}",
        "entered": "yes" if first is not None and first.fresh else "",
        "one": "yes" if first is not None and first.shape and all(n == 1 for n in first.shape) else "",
        "weights": _name_of(situation, first),
    }
    certain = first is not None and first.parameter is None
    return _cause(situation, site, keys, steps, details, update, certain)


def _first(backward: Backward) -> Op | None:
    """Of the values that were looked at and are broken, the one that was made first."""
    cone = {n for root in backward.roots for n in ancestors(backward.flow, root)}
    broken = [op for n in cone if (op := backward.flow[n]).values is not None and not op.values.finite]
    made = [op for op in broken if op.parameter is None]
    weights = [op for op in broken if op.parameter is not None]
    return min(weights or made, key=lambda op: op.time, default=None)


def _name_of(situation: Situation, op: Op | None) -> str:
    known = situation.evidence.parameters.get(op.parameter) if op is not None and op.parameter else None
    return known.name if known is not None else ""


def _of_gradient(situation: Situation, update: Update) -> Cause:
    """The loss was finite and its gradient is not: an operation whose derivative is infinite."""
    keys = frozenset(k for k, top in update.largest.items() if not isfinite(top))
    backward = next((b for b in reversed(update.backwards) if b.reached & keys), None)
    op = _singular(situation, backward, keys) if backward is not None else None
    site = op.site if op is not None else (backward.site if backward is not None else update.site)
    steps = [Step(op.name, op.site, cut=True)] if op is not None else []
    steps += [Step(_code(backward.site, "backward()"), backward.site)] if backward is not None else []
    details = {"op": op.name if op is not None else "", "gradient": "yes"}
    return _cause(situation, site, keys, steps, details, update, certain=False)


def _singular(situation: Situation, backward: Backward, keys: frozenset[int]) -> Op | None:
    """An operation on the way whose derivative can be infinite, the nearest to the loss."""
    path = situation.reach(backward).path(min(keys & backward.reached))
    on_way = [op for op in path.ops if op.name.strip("_") in _SINGULAR] if path is not None else []
    if not on_way:
        living = situation.living(backward)
        on_way = [op for n in living if (op := backward.flow[n]).name.strip("_") in _SINGULAR]
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
    details = {"compiled": "yes", "value": "not finite" if look.loss is None else f"{look.loss}"}
    op = None
    if look.loss is not None and isfinite(look.loss):
        details["gradient"] = "yes"
        if backward is not None and keys & backward.reached:
            op = _singular(situation, backward, keys)
    elif backward is not None and _calm_before(situation, optimizer, look):
        op = _only_suspect(backward)
    details["op"] = op.name if op is not None else ""
    site = op.site if op is not None else backward.site if backward is not None else optimizer.made
    steps = [Step(op.name if op is not None else _code(site, "apply_gradients()"), site, cut=True)]
    found = _cause(situation, site, keys, steps, details, update, certain=False)
    return replace(found, optimizer=optimizer.name, first_update=look.number, updates=optimizer.steps)


def _calm_before(situation: Situation, optimizer: Optimizer, look: Look) -> bool:
    """Did it come at once? Where gradients had exploded before, any operation may have overflowed."""
    before = [p for p in situation.evidence.pulses.get(optimizer.key, ()) if p.number < look.number]
    return all(p.top < LARGE for p in before)


def _only_suspect(backward: Backward) -> Op | None:
    """The operation that gives NaN or Inf for some arguments, if there is just one behind the loss."""
    cone = {n for root in backward.roots for n in ancestors(backward.flow, root)}
    suspects = [op for n in cone if (op := backward.flow[n]).name.strip("_") in _UNDEFINED and op.site]
    found = [op for op in suspects if not (op.numbers and op.name.strip("_") in _BY_A_NUMBER)]
    return found[0] if len(found) == 1 else None


def _unrecorded(situation: Situation, optimizer: Optimizer, pulse: Pulse) -> Cause:
    keys = frozenset(k for k, top in pulse.largest.items() if not isfinite(top))
    update = next((u for u in reversed(situation.updates(optimizer))), None)
    site = update.site if update is not None else optimizer.made
    steps = [Step(_code(site, "step()"), site, cut=True)]
    return Cause(
        "non-finite",
        site,
        situation.parameters(keys),
        tuple(steps),
        {"late": str(pulse.number), "gradient": "yes"},
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        first_update=pulse.number,
        updates=optimizer.steps,
    )


def _cause(
    situation: Situation,
    site: Site | None,
    keys: frozenset[int],
    steps: list[Step],
    details: dict[str, str],
    update: Update | None,
    certain: bool,
) -> Cause:
    optimizer = situation.evidence.optimizers.get(update.optimizer) if update is not None else None
    return Cause(
        "non-finite",
        site,
        situation.parameters(keys),
        tuple(steps),
        details,
        confidence=Confidence.CERTAIN if certain else Confidence.LIKELY,
        optimizer=optimizer.name if optimizer is not None else "",
        first_update=update.number if update is not None else 0,
        updates=optimizer.steps if optimizer is not None else 0,
    )


def _code(site: Site | None, instead: str) -> str:
    return site.code if site is not None else instead
