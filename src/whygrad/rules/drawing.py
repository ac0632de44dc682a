"""The flow picture: from what was recorded to layers, losses and the wires between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from whygrad.flow.gradient_map import distinct, part_of
from whygrad.flow.naming import term_names
from whygrad.flow.paths import Path
from whygrad.flow.situation import Situation
from whygrad.flow.terms import terms
from whygrad.flow.wires import Way, fronts
from whygrad.model import (
    Backward,
    Drawing,
    DrawnLoss,
    Evidence,
    Layer,
    Mark,
    Op,
    Parameter,
    Site,
    Step,
    Update,
    Weight,
    Wire,
)
from whygrad.rules.dialects import Dialect, dialect_of
from whygrad.rules.paths.cuts import first_cut, spoken

_MOST_LOSSES = 12
_MOST_STEPS = 6
_OWNED = re.compile(r"(.+)\.[^.\]]+$")  # a point inside of a key, params['0.weight'], is none


def drawing(situation: Situation) -> Drawing:
    """Every loss once, as it was when it was last recorded."""
    evidence = situation.evidence
    shown = _last_by_line(evidence)
    layer_of = {p.key: layer_name(p) for p in evidence.parameters.values()}
    losses: list[DrawnLoss] = []
    wires: dict[object, Wire] = {}
    for backward, optimizers in list(shown.values())[:_MOST_LOSSES]:
        loss, found = _loss(backward, optimizers, len(losses), layer_of, dialect_of(evidence.framework))
        if found:
            losses.append(loss)
            for wire in found:
                key = (wire.source, wire.target, wire.loss, wire.term, wire.carries, wire.cut)
                wires.setdefault(key, wire)
    named = list(dict.fromkeys(name for wire in wires.values() for name in (wire.source, wire.target)))
    layers = _layers(evidence, layer_of, named)
    return Drawing(layers, tuple(losses), tuple(wires.values()), max(len(shown) - _MOST_LOSSES, 0))


def layer_name(parameter: Parameter) -> str:
    """``actor.net.0`` for ``actor.net.0.weight``; a parameter by itself is its own layer."""
    owned = _OWNED.match(parameter.name)
    return owned[1] if owned else parameter.name


def _last_by_line(evidence: Evidence) -> dict[Site | None, tuple[Backward, tuple[str, ...]]]:
    """Each line that differentiates: the last time it was recorded, and who steps on it."""
    steppers: dict[Site | None, dict[str, None]] = {}
    last: dict[Site | None, Backward] = {}
    for update in evidence.updates:
        optimizer = evidence.optimizers.get(update.optimizer)
        for backward in update.backwards:
            if not backward.roots:
                continue
            last[backward.site] = backward
            meant = backward.follower == update.optimizer and not backward.applied
            if optimizer is not None and (meant or backward.applied & optimizer.held):
                steppers.setdefault(backward.site, {})[optimizer.name] = None
    for backward in evidence.loose:
        if backward.roots:
            last.setdefault(backward.site, backward)
    return {site: (backward, tuple(steppers.get(site, ()))) for site, backward in last.items()}


def _loss(
    backward: Backward,
    optimizers: tuple[str, ...],
    number: int,
    layer_of: dict[int, str],
    dialect: Dialect,
) -> tuple[DrawnLoss, list[Wire]]:
    flow = backward.flow
    parts = distinct(flow, [t for root in backward.roots for t in terms(flow, root, deep=False)])
    ways, between = fronts(flow, [t.op.id for t in parts], layer_of)
    kept = [t.op for t in sorted(parts, key=lambda t: t.op.time) if ways.get(t.op.id)]
    root = flow[backward.roots[0]]
    names = term_names(flow, backward.roots, kept)
    loss = DrawnLoss(
        name=term_names(flow, (root.id,), (root,))[0],
        site=root.site,
        terms=tuple(names),
        term_sites=tuple(op.site for op in kept),
        optimizers=optimizers,
        error=backward.error,
    )
    wires = [_wire(dialect, source, way, target=target) for source, target, way in between]
    for term, op in enumerate(kept):
        wires += [_wire(dialect, source, way, loss=number, term=term) for source, way in ways[op.id]]
    return loss, wires


def _wire(dialect: Dialect, source: str, way: Way, target: str = "", loss: int = -1, term: int = -1) -> Wire:
    ops, cuts = way.unrolled()
    cut, block = None, ""
    if cuts:
        found = first_cut(Path(ops, cuts, len(cuts)), dialect)
        block = found.op.block.kind if found.op.block else ""
        cut = Step(spoken(found.op, dialect), found.cause.site or found.op.site, mark=Mark.CUT)
    return Wire(source, target, loss, term, way.asks and not cuts, cut, block, tuple(_steps(ops, dialect)))


def _steps(ops: tuple[Op, ...], dialect: Dialect) -> Iterator[Step]:
    """A few of the operations on the way, a line once."""
    seen: dict[tuple[str, Site | None], None] = {}
    for op in ops:
        if op.parameter is None and op.site is not None:
            seen.setdefault((spoken(op, dialect), op.site))
    rows = list(seen)
    if len(rows) > _MOST_STEPS:
        rows = rows[: _MOST_STEPS // 2] + rows[-_MOST_STEPS // 2 :]
    return (Step(what, site) for what, site in rows)


def _layers(evidence: Evidence, layer_of: dict[int, str], named: list[str]) -> tuple[Layer, ...]:
    """The layers in the order of the flow, and those that an optimizer holds although no loss knows them."""
    held = {k for o in evidence.optimizers.values() for k in o.held}
    shown = [p for p in evidence.parameters.values() if layer_of[p.key] in named or p.key in held]
    single = len({p.network for p in shown}) == 1
    members: dict[str, list[Parameter]] = {name: [] for name in named if name}
    for parameter in shown:
        members.setdefault(layer_of[parameter.key], []).append(parameter)
    gradients = _gradients(evidence.updates)
    found = []
    for name, parameters in members.items():
        first = parameters[0]
        network = part_of(first, evidence.framework) if single else first.network
        found.append(Layer(name, network, tuple(_weights(evidence, parameters, gradients))))
    return tuple(found)


def _weights(
    evidence: Evidence, parameters: Iterable[Parameter], gradients: dict[int, float | None]
) -> Iterator[Weight]:
    for p in parameters:
        holders = tuple(o.name for o in evidence.optimizers.values() if p.key in o.held)
        yield Weight(p.name, p.shape, gradients.get(p.key), holders, p.trainable, p.key in gradients)


def _gradients(updates: Iterable[Update]) -> dict[int, float | None]:
    """The largest element of each gradient in the last update that says something of it."""
    found: dict[int, float | None] = {}
    for update in updates:
        found.update(dict.fromkeys(update.absent))
        found.update(update.largest)
        found.update(dict.fromkeys(update.zero, 0.0))
    return found
