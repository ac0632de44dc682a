"""What is left when every other rule has spoken: parameters that were measured not to learn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whygrad.flow.facts import FEW, Fact, facts
from whygrad.flow.paths import Path
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Kind, Mark, Op, Optimizer, Parameter, Severity, Site, Step
from whygrad.model.kinds import EXTREMES
from whygrad.rules.cause import Cause
from whygrad.rules.figures.zero_gradient import ZeroGradient
from whygrad.rules.unexplained.unexplained import Fate, Unexplained

_ROUNDING = 1e-3  # of the largest gradient beside it: below, a step may be rounded away
_FLAT = EXTREMES | {Kind.BOUND, Kind.RELU, Kind.WHERE, Kind.STEPWISE, Kind.OTHER}
_SCALING = frozenset((Kind.MULTIPLY, Kind.DIVIDE))


def unexplained(situation: Situation, found: Iterable[Cause]) -> Iterator[Cause]:
    """One cause for each optimizer and fate, over the parameters that no other cause speaks of."""
    causes = list(found)
    explained = {p.key for cause in causes for p in cause.subjects}
    for optimizer in situation.evidence.optimizers.values():
        if not _judged(situation, optimizer):
            continue
        known = facts(situation, optimizer)
        fates: dict[tuple[Fate, int], list[Parameter]] = {}
        for parameter in situation.parameters(optimizer.held - explained):
            fate = _fate(situation, optimizer, parameter, known)
            if fate is not None and not _follows(fate, parameter, optimizer, causes):
                fates.setdefault((fate, _since(known[parameter.key], fate)), []).append(parameter)
        for (fate, since), members in fates.items():
            yield _cause(situation, optimizer, fate, since, tuple(members), known)


def _follows(fate: Fate, parameter: Parameter, optimizer: Optimizer, causes: Iterable[Cause]) -> bool:
    """Something else is wrong with its network, or zeros come from the same loss: that comes first."""
    if fate not in (Fate.ZERO, Fate.UNMOVED):
        return False
    grave = [cause for cause in causes if cause.severity is not Severity.NOTE]
    beside = any(isinstance(cause, ZeroGradient) and cause.optimizer == optimizer.name for cause in grave)
    return beside or any(p.network == parameter.network for cause in grave for p in cause.subjects)


def _judged(situation: Situation, optimizer: Optimizer) -> bool:
    """It stepped often enough, was recorded, and nothing that is still to come may explain it."""
    seen = situation.updates(optimizer)
    idle = optimizer.lr_always_zero or optimizer.steps < FEW
    return bool(seen) and not idle and not situation.awaits_loss(optimizer)


def _fate(
    situation: Situation, optimizer: Optimizer, parameter: Parameter, known: dict[int, Fact]
) -> Fate | None:
    """What was measured of a parameter that should learn; nothing if it does, or need not."""
    if not _should_learn(situation, optimizer, parameter):
        return None
    fact = known[parameter.key]
    if parameter.key in situation.evidence.always_absent.get(optimizer.key, ()):
        backwards = any(u.backwards for u in situation.updates(optimizer)) or situation.evidence.loose
        return Fate.ABSENT if backwards else Fate.UNCOMPUTED
    if _beside_a_living_weight(situation, parameter, known):
        return None
    if fact.dies(optimizer.steps):
        return Fate.ZERO
    return Fate.UNMOVED if fact.unmoved and not _at_rounding_level(parameter.key, fact, known) else None


def _should_learn(situation: Situation, optimizer: Optimizer, parameter: Parameter) -> bool:
    """Not frozen, not a copy, nobody else trains it, and the program still has it."""
    key = parameter.key
    others = [o for o in situation.holders.get(key, ()) if o.key != optimizer.key and o.steps]
    elsewhere = any(key not in situation.evidence.always_absent.get(o.key, ()) for o in others)
    mine = parameter.trainable and parameter.lasting and parameter.alive
    return mine and not elsewhere and not situation.is_copy(key) and key not in situation.crossed


def _beside_a_living_weight(situation: Situation, parameter: Parameter, known: dict[int, Fact]) -> bool:
    """The bias of a layer that learns: before a normalisation it has nothing to do."""
    layer, _, _ = parameter.name.rpartition(".")
    siblings = (
        situation.parameters(known.keys() - {parameter.key}) if layer and len(parameter.shape) < 2 else ()
    )
    return any(p.name.rpartition(".")[0] == layer and known[p.key].lasts for p in siblings)


def _at_rounding_level(key: int, fact: Fact, known: dict[int, Fact]) -> bool:
    """Far below the gradients beside it: what is left of such a step is rounded away."""
    top = max((size for f in known.values() for _, size in f.sizes if size == size), default=0.0)
    return max((size for _, size in fact.sizes if size == size), default=0.0) < _ROUNDING * top


def _since(fact: Fact, fate: Fate) -> int:
    return fact.since if fate is Fate.ZERO else 0


def _cause(
    situation: Situation,
    optimizer: Optimizer,
    fate: Fate,
    since: int,
    members: tuple[Parameter, ...],
    known: dict[int, Fact],
) -> Cause:
    step = next((u.site for u in reversed(situation.updates(optimizer)) if u.site is not None), None)
    backward, path = _way(situation, optimizer, members[0])
    loss = backward.flow[backward.roots[0]].site or backward.site if backward is not None else None
    border = _border(situation, backward, path, known)
    site = step if fate in (Fate.UNCOMPUTED, Fate.UNMOVED) else _site(border, path) or loss or step
    return Unexplained(
        site=site or optimizer.made,
        subjects=members,
        chain=tuple(_chain(members[0], fate, site, loss, step)),
        severity=_severity(situation, members, known),
        confidence=Confidence.LIKELY if since else Confidence.CERTAIN,
        optimizer=optimizer.name,
        loss=loss,
        first_update=since or 1,
        updates=optimizer.steps,
        fate=fate,
        step=step,
        looked=known[members[0].key].looked,
        since=since,
        alive=situation.evidence.parameters[border[1]].name if border else "",
        suspects=tuple(_suspects(path, border[0] if border else None)),
        unseen=path is None or any(op.kind is Kind.UNSEEN for op in path.ops),
        compiled=situation.evidence.compiled,
    )


def _severity(situation: Situation, members: tuple[Parameter, ...], known: dict[int, Fact]) -> Severity:
    """An error when nothing of one of the networks learns."""
    learn = {p.network for p in situation.parameters(known) if known[p.key].learns}
    late = all(known[p.key].alive for p in members)
    return Severity.WARNING if late or all(p.network in learn for p in members) else Severity.ERROR


def _way(
    situation: Situation, optimizer: Optimizer, parameter: Parameter
) -> tuple[Backward | None, Path | None]:
    """The last loss that led to a step, and the way from the parameter to it, if there is one."""
    found: Backward | None = None
    for update in reversed(situation.updates(optimizer)):
        for backward in reversed(update.backwards):
            path = situation.reach(backward).path(parameter.key)
            if path is not None:
                return backward, path
            found = found or backward
    return found, None


def _border(
    situation: Situation, backward: Backward | None, path: Path | None, known: dict[int, Fact]
) -> tuple[Op, int] | None:
    """On the way from the parameter to the loss: the first operation with a parameter that learns in it."""
    if backward is None or path is None:
        return None
    for op in path.ops[1:]:
        for i in op.inputs:
            key = backward.flow.parameter(i)
            if key in known and known[key].lasts:
                return op, key
    return None


def _site(border: tuple[Op, int] | None, path: Path | None) -> Site | None:
    """The line of the last operation that certainly had gradient."""
    return border[0].site if border is not None and path is not None else None


def _suspects(path: Path | None, border: Op | None) -> Iterator[str]:
    """Operations on the way whose derivative can be zero, the nearest to the living part first."""
    if path is None:
        return
    ops = path.ops[1:] if border is None else path.ops[1 : path.ops.index(border)]
    named: dict[str, None] = {}
    for op in reversed(ops):
        number = op.kind in _SCALING and 0.0 in op.numbers
        if op.site is not None and (op.kind in _FLAT or number):
            what = (
                f"a factor of 0 at line {op.site.line}" if number else f"`{op.name}` at line {op.site.line}"
            )
            named[what] = None
    yield from list(named)[:4]


def _chain(
    parameter: Parameter, fate: Fate, site: Site | None, loss: Site | None, step: Site | None
) -> Iterator[Step]:
    yield Step(parameter.name, parameter.made[0] if parameter.made else None)
    if fate is Fate.ZERO:
        yield Step("its gradient is exactly zero", None, mark=Mark.FLAT)
    elif fate is Fate.UNMOVED:
        yield Step.at(step, "the step", mark=Mark.HERE)
        return
    else:
        yield Step("no gradient arrives", None, mark=Mark.GAP)
    if site is not None and site != loss:
        yield Step.at(site, "the last place that is alive")
    if loss is not None:
        yield Step.at(loss, "the loss")
