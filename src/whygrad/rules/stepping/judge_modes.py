"""In which mode networks with dropout or batch normalisation are trained, and in which they act."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Flow, Mark, Op, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.stepping.wrong_mode import WrongMode

_OFTEN = 3  # backwards, or passes that act
_FORWARD = frozenset(("forward", "call", "__call__"))
_SINGLE = "more than 1 value per channel when training"
_FAR = 64  # operations between a layer with modes and the weights before it


def wrong_modes(situation: Situation) -> Iterator[Cause]:
    """Networks that are trained in eval mode, and networks that act in train mode."""
    trained: dict[str, list[Op]] = {}
    times: Counter[str] = Counter()  # a compiled pass is there once, and has run many times
    acted: dict[str, dict[int, Op]] = {}
    backwards = list(filter(situation.whole, situation.backwards))
    learns = set[int]().union(*map(situation.living, backwards))  # a loss may leave, too, to be printed
    for backward in backwards:
        for op, key in _trained_through(situation, backward):
            network = situation.evidence.parameters[key].network
            trained.setdefault(network, []).append(op)
            times[network] += max(1, backward.runs)
        for op, key in _acted_through(situation, backward):
            if op.id not in learns:
                acted.setdefault(situation.evidence.parameters[key].network, {})[op.id] = op
    yield from _one_by_one(situation)
    for network, passes in trained.items():
        if times[network] >= _OFTEN and not any(op.training for op in passes):
            yield from _in_eval(situation, network, passes)
    for network, ops in acted.items():
        if len(ops) >= _OFTEN and all(op.training for op in ops.values()) and network in trained:
            yield _in_train(situation, network, _called(list(ops.values())[-1]))
    yield from _targets(situation)


def _one_by_one(situation: Situation) -> Iterator[Cause]:
    """Batch normalisation has stopped the script: in train mode it cannot work on a single state."""
    crash = situation.evidence.crash
    if crash is None or _SINGLE not in crash.error:
        return
    keys = [key for i in crash.inputs if (key := crash.flow.parameter(i)) is not None]
    for key in keys[:1]:
        network = situation.evidence.parameters[key].network
        yield _in_train(situation, network, _outside(crash.site, *crash.callers), stopped=True)


def _targets(situation: Situation) -> Iterator[Cause]:
    """Target networks whose batch normalisation takes the statistics of each batch."""
    found: dict[str, list[Op]] = {}
    times: Counter[str] = Counter()
    for backward in filter(situation.whole, situation.backwards):
        flow, living = backward.flow, situation.living(backward)
        for number in set[int]().union(*(ancestors(flow, root) for root in backward.roots)) - living:
            op = flow[number]
            key = _of_target(situation, flow, op) if op.training is not None else None
            if key is not None and situation.is_copy(key):
                network = situation.evidence.parameters[key].network
                found.setdefault(network, []).append(op)
                times[network] += max(1, backward.runs)
    for network, ops in found.items():
        if times[network] >= _OFTEN and all(op.training for op in ops):
            yield _in_train(situation, network, _called(ops[-1]), target=True)


def _of_target(situation: Situation, flow: Flow, op: Op) -> int | None:
    """A weight of the layer; where every call says its mode, one of the layers before it will do."""
    keys = [k for i in op.inputs if (k := flow.parameter(i)) is not None]
    if keys or dialect_of(situation.evidence.framework).modes_switched:
        return keys[0] if keys else None
    return _owner(situation, flow, op)


def _trained_through(situation: Situation, backward: Backward) -> Iterator[tuple[Op, int]]:
    """The values of layers with modes that gradient came through, each with a weight before it."""
    modal = [backward.flow[i] for i in situation.living(backward) if backward.flow[i].training is not None]
    for op in modal:
        key = _owner(situation, backward.flow, op)
        if key in backward.applied:
            yield op, key


def _acted_through(situation: Situation, backward: Backward) -> Iterator[tuple[Op, int]]:
    """The same in passes whose result left the framework, and through which no gradient comes back."""
    flow = backward.flow
    modal = {op.id for op in flow.ops.values() if op.training is not None} - situation.living(backward)
    if not modal:
        return
    left = {*backward.exits, *backward.acts}
    for number in modal & set[int]().union(*(ancestors(flow, i) for i in left)):
        key = _owner(situation, flow, flow[number])
        if key is not None:
            yield flow[number], key


def _owner(situation: Situation, flow: Flow, op: Op) -> int | None:
    """The weight that is nearest before a value."""
    todo, seen = [op.id], {op.id}
    while todo and len(seen) < _FAR:
        inputs = flow[todo.pop(0)].inputs
        keys = [key for i in inputs if (key := flow.parameter(i)) is not None]
        if keys:
            return keys[0] if keys[0] in situation.evidence.parameters else None
        fresh = [i for i in inputs if i not in seen]
        seen.update(fresh)
        todo.extend(fresh)
    return None


def _in_eval(situation: Situation, network: str, passes: list[Op]) -> Iterator[Cause]:
    """Where modes are switched, the line that did it is needed.

    A network that was loaded may keep its statistics on purpose.
    """
    keys = {p.key for p in situation.evidence.parameters.values() if p.network == network}
    members = situation.parameters(keys)
    off = [s for s in situation.evidence.switches if not s.training and s.parameters & keys]
    switched = dialect_of(situation.evidence.framework).modes_switched
    if (switched and not off) or any(p.loaded for p in members):
        return
    forward = _called(passes[-1])
    site = max(off, key=lambda s: s.time).site if off else forward
    there = Step.at(forward, "the forward pass", mark=Mark.NONE if off else Mark.HERE)
    yield WrongMode(
        site=site,
        subjects=members,
        chain=(Step.at(site, "eval()", mark=Mark.HERE), there) if off else (there,),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        first_update=1,
        updates=_updates(situation, keys),
    )


def _in_train(
    situation: Situation, network: str, site: Site | None, target: bool = False, stopped: bool = False
) -> Cause:
    keys = {p.key for p in situation.evidence.parameters.values() if p.network == network}
    return WrongMode(
        site=site,
        subjects=situation.parameters(keys),
        chain=(Step.at(site, "the forward pass", mark=Mark.BROKEN if stopped else Mark.HERE),),
        severity=Severity.ERROR if stopped else Severity.WARNING,
        confidence=Confidence.CERTAIN if stopped else Confidence.LIKELY,
        first_update=1,
        updates=_updates(situation, keys),
        acting=not target,
        target=target,
        stopped=stopped,
    )


def _called(op: Op) -> Site | None:
    """The line that called the network."""
    return _outside(op.site, *op.callers)


def _outside(*sites: Site | None) -> Site | None:
    """The innermost of these lines that is not part of a network."""
    return next((s for s in sites if s is not None and s.function not in _FORWARD), sites[0])


def _updates(situation: Situation, keys: Iterable[int]) -> int:
    wanted = set(keys)
    return max((o.steps for o in situation.evidence.optimizers.values() if o.held & wanted), default=0)
