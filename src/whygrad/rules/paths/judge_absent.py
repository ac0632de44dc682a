"""Parameters that an optimizer holds and that never get a gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from whygrad.flow.paths import Path, Reach
from whygrad.flow.situation import Situation
from whygrad.flow.terms import loss_op
from whygrad.model import Backward, Kind, Mark, Op, Optimizer, Parameter, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.judge_captured import runs_another
from whygrad.rules.membership.judge_held_frozen import held_frozen
from whygrad.rules.membership.wrong_variables import WrongVariables
from whygrad.rules.paths import cuts
from whygrad.rules.paths.detached import Detached
from whygrad.rules.paths.judge_independent import independent
from whygrad.rules.paths.judge_source import by_source
from whygrad.rules.stepping.judge_unstepped import unapplied


def absent(situation: Situation) -> Iterator[Cause]:
    """A cause for every parameter that was absent in every step of its optimizer."""
    for optimizer in situation.evidence.optimizers.values():
        updates = situation.updates(optimizer)
        keys = situation.evidence.always_absent.get(optimizer.key, frozenset())
        keys = frozenset(
            k for k in keys if not _learns_elsewhere(situation, k, optimizer) and not situation.is_copy(k)
        )
        if not updates or not keys or situation.awaits_loss(optimizer):
            continue
        backwards = [(b, u.since) for u in updates for b in u.backwards if situation.whole(b)]
        first = min((u.number for u in updates), default=1)
        for cause in explain(situation, optimizer, keys, backwards):
            yield _counted(cause, first, optimizer.steps)


def _learns_elsewhere(situation: Situation, key: int, optimizer: Optimizer) -> bool:
    """Another optimizer holds it too, and gives it what it needs."""
    others = [o for o in situation.holders.get(key, ()) if o.key != optimizer.key and o.steps]
    return any(key not in situation.evidence.always_absent.get(o.key, ()) for o in others)


def failed(situation: Situation) -> Iterator[Cause]:
    """``element 0 of tensors does not require grad``: the loss itself carries no gradient."""
    for backward in situation.evidence.loose:
        unconnected = bool(backward.wanted) and not backward.wanted & backward.reached
        if unconnected and (situation.evidence.finished or "non-persistent" in backward.error):
            continue
        if "does not require grad" not in backward.error and not unconnected:
            continue
        shadow = situation.reach(backward).parameters.keys()
        owners = [o for o in situation.evidence.optimizers.values() if o.held & shadow]
        known = situation.evidence.parameters
        untrained = [o for o in owners if not all(known[k].trained for k in o.held & shadow)]
        if not owners and switched_off(situation):
            continue  # nothing could have carried gradient, whatever the loss was made of
        for optimizer in untrained or owners or _idle_owners(situation):
            keys = backward.wanted or optimizer.held & shadow or optimizer.held
            for cause in explain(situation, optimizer, keys, [(backward, 0)]):
                yield _counted(cause, optimizer.steps + 1, 1)


def thawed_never(situation: Situation) -> Iterator[Cause]:
    """The same error in an update that was not recorded: everything that the optimizer holds is frozen."""
    crash = situation.evidence.crash
    seen = any(b.error for b in situation.evidence.loose)
    if crash is None or seen or "does not require grad" not in crash.error:
        return
    for optimizer in situation.evidence.optimizers.values():
        if not any(p.trainable for p in situation.parameters(optimizer.held)):
            for cause in explain(situation, optimizer, optimizer.held, []):
                yield _counted(cause, optimizer.steps + 1, 1)


def unscaled(situation: Situation) -> Iterator[Cause]:
    """``No inf checks were recorded``: a ``GradScaler`` was to step where no gradient had arrived."""
    crash, loose = situation.evidence.crash, situation.evidence.loose
    if crash is None or not loose or "No inf checks were recorded" not in crash.error:
        return
    backward = max(loose, key=lambda b: b.time)
    shadow = situation.reach(backward).parameters.keys()
    optimizers = [o for o in situation.evidence.optimizers.values() if not o.held & backward.reached]
    for optimizer in [o for o in optimizers if o.held & shadow] or _idle_owners(situation):
        for cause in explain(situation, optimizer, optimizer.held, [(backward, 0)]):
            yield _counted(cause, optimizer.steps + 1, 1)


def switched_off(situation: Situation) -> bool:
    """Did the script die because gradients were off when it called ``backward``?"""
    crash = situation.evidence.crash
    return crash is not None and crash.block is not None and "does not require grad" in crash.error


def _idle_owners(situation: Situation) -> list[Optimizer]:
    """No optimizer has anything to do with the loss: the one that would have come next."""
    optimizers = sorted(situation.evidence.optimizers.values(), key=lambda o: o.steps)
    return optimizers[:1]


def explain(
    situation: Situation, optimizer: Optimizer, keys: Iterable[int], backwards: list[tuple[Backward, int]]
) -> Iterator[Cause]:
    """Why these parameters get nothing from these backwards, one cause per rule and line."""
    groups: dict[object, list[tuple[Parameter, Cause]]] = {}
    for parameter in situation.parameters(keys):
        cause = _why(situation, optimizer, parameter, backwards)
        if cause is not None:
            groups.setdefault((cause.rule, cause.site, cause.severity), []).append((parameter, cause))
    for members in groups.values():
        yield together(members)


def together(members: list[tuple[Parameter, Cause]]) -> Cause:
    """The same cause for several parameters: the first one's chain, everybody's names."""
    _, cause = members[0]
    return replace(cause, subjects=tuple(p for p, _ in members))


def _why(
    situation: Situation, optimizer: Optimizer, parameter: Parameter, backwards: list[tuple[Backward, int]]
) -> Cause | None:
    if not parameter.trainable:
        return held_frozen(situation, optimizer, parameter)
    ways = _ways(situation, parameter, backwards)
    living = [backward for path, backward, _ in ways if path.living]
    if living:
        return _not_handed_over(situation, optimizer, parameter, living[-1])
    cut = [(path.cost, -i, path, b) for i, (path, b, _) in enumerate(ways) if not path.through_data]
    if cut and not _old_data(ways, backwards):
        _, _, path, backward = min(cut, key=lambda c: c[:2])
        goes_on = feeds_another_network(backward, path, optimizer)
        if goes_on or not _left_out(situation, parameter, backwards):
            return cut_cause(situation, optimizer, parameter, path, backward)
    by_hand = _assigned_to_another(situation, optimizer, parameter)
    if by_hand is not None:
        return by_hand
    own = _its_own(situation, optimizer, [b for b, _ in backwards if b.roots])  # none: the loss itself failed
    unseen = not parameter.used or parameter.hidden or (own is not None and _unseen(own))
    if own is None or (situation.evidence.compiled and unseen):
        return None  # its forward pass may have run as compiled code, which nobody has seen
    return (
        runs_another(situation, optimizer, parameter, own)
        or by_source(situation, optimizer, parameter, own)
        or independent(situation, optimizer, parameter, own)
    )


def _unseen(backward: Backward) -> bool:
    return any(op.kind is Kind.UNSEEN for op in backward.flow.ops.values())


def feeds_another_network(backward: Backward, path: Path, optimizer: Optimizer) -> bool:
    """Behind the cut, the value goes into a network that this optimizer does not train."""
    return _meets_another_network(backward, path.ops[path.cuts[0] + 1 :], optimizer)


def went_through_another_network(backward: Backward, path: Path, optimizer: Optimizer) -> bool:
    """Before the cut, the value came out of a network that this optimizer does not train: a critic's word."""
    return _meets_another_network(backward, path.ops[1 : path.cuts[0]], optimizer)


def _meets_another_network(backward: Backward, ops: Iterable[Op], optimizer: Optimizer) -> bool:
    keys = (backward.flow.parameter(i) for op in ops for i in op.inputs)
    return any(key is not None and key not in optimizer.held for key in keys)


def _ways(
    situation: Situation, parameter: Parameter, backwards: list[tuple[Backward, int]]
) -> list[tuple[Path, Backward, int]]:
    """The way from the parameter to each loss, where there is one."""
    found = []
    for backward, since in backwards:
        path = situation.reach(backward, since).path(parameter.key)
        if path is not None and not path.living:
            path = _through_a_dead_term(situation, parameter, backward, since) or path
        if path is not None:
            found.append((path, backward, since))
    return found


def _through_a_dead_term(
    situation: Situation, parameter: Parameter, backward: Backward, since: int
) -> Path | None:
    """A term that trains something is not the broken one: look first in those that train nothing."""
    paths = [
        reach.path(parameter.key)
        for _, reach in situation.terms(backward, since)
        if not reach.living() & backward.applied
    ]
    found = [path for path in paths if path is not None and path.cost == 1]
    return found[0] if found else None


def _old_data(ways: list[tuple[Path, Backward, int]], backwards: list[tuple[Backward, int]]) -> bool:
    """The loss only sees what was computed before an earlier step: data of a rollout, not a forward pass."""
    first = [(path.ops[path.cuts[0]], since) for path, _, since in ways if path.cuts]
    stale = [op for op, since in first if op.time <= since]
    if not stale:
        return False
    return (
        any(op.block is not None and not op.block.tape for op in stale)
        or len({op.id for op, _ in first}) > len(first) // 2 + 1
    )


def _left_out(situation: Situation, parameter: Parameter, backwards: list[tuple[Backward, int]]) -> bool:
    """Another loss that does reach this parameter was computed and not differentiated."""
    for backward, _ in backwards:
        for scalar in backward.unused:
            if parameter.key in Reach(backward.flow, [scalar]).living():
                return True
    return False


def _assigned_to_another(situation: Situation, optimizer: Optimizer, parameter: Parameter) -> Cause | None:
    """``p.grad = g`` was written for parameters that no optimizer holds."""
    for key, site in situation.evidence.assigned.items():
        other = situation.evidence.parameters[key]
        if key not in situation.holders and other.shape == parameter.shape:
            return WrongVariables(
                kind="stored",
                others=(other.network,),
                meant=(parameter.network,),
                site=site,
                subjects=(parameter,),
                chain=(
                    Step(other.name, other.made[0] if other.made else None),
                    Step(".grad = ...", site, mark=Mark.LOST),
                ),
                optimizer=optimizer.name,
            )
    return None


def _not_handed_over(
    situation: Situation, optimizer: Optimizer, parameter: Parameter, backward: Backward
) -> Cause | None:
    """The loss depends on it, and yet the optimizer finds no gradient."""
    if not backward.wanted:
        return None  # cleared between backward and step
    if parameter.key in backward.wanted:
        return unapplied(backward, (parameter,), optimizer)
    asked = {p.network for p in situation.parameters(backward.wanted)} - {parameter.network}
    call = dialect_of(situation.evidence.framework).ask
    return WrongVariables(
        kind="asked",
        others=tuple(sorted(asked)),
        meant=(parameter.network,) if asked else (),
        site=backward.site,
        subjects=(parameter,),
        chain=(
            Step(parameter.name, parameter.made[0] if parameter.made else None),
            Step(call, backward.site, mark=Mark.HERE),
        ),
        optimizer=optimizer.name,
        loss=backward.flow[backward.roots[0]].site,
    )


def cut_cause(
    situation: Situation,
    optimizer: Optimizer | None,
    parameter: Parameter,
    path: Path,
    backward: Backward,
) -> Cause:
    """The cut of a path, as a cause."""
    dialect = dialect_of(situation.evidence.framework)
    found = cuts.first_cut(path, dialect)
    if isinstance(found.cause, Detached) and used_again(situation, backward, found.op):
        found = cuts.Cut(replace(found.cause, shared=True), found.op)
    loss = loss_op(backward.flow, backward.roots[0], backward.site.line if backward.site else None)
    return replace(
        found.cause,
        subjects=(parameter,),
        chain=cuts.chain(path, parameter, found, loss.site, backward.site, dialect),
        optimizer=optimizer.name if optimizer is not None else "",
        loss=loss.site,
    )


def used_again(situation: Situation, backward: Backward, op: Op) -> bool:
    """Is the very value that is cut off behind another backward of the same update, too?

    A closure is called several times for one step. Without the cut the second one would walk a freed graph.
    """
    for update in situation.evidence.updates:
        if any(b.number == backward.number for b in update.backwards):
            others = [b for b in update.backwards if b.number != backward.number and b.site == backward.site]
            return any(_same(o, op) for b in others for o in b.flow.ops.values())
    return False


def _same(one: Op, two: Op) -> bool:
    return (one.time, one.site, one.kind) == (two.time, two.site, two.kind)


def _its_own(situation: Situation, optimizer: Optimizer, backwards: list[Backward]) -> Backward | None:
    """Of the backwards before a step, the one that was meant for this optimizer."""
    if not backwards:
        return None
    others = {k for o in situation.evidence.optimizers.values() if o.key != optimizer.key for k in o.held}
    mine = [b for b in backwards if b.reached & optimizer.held]
    alone = [b for b in backwards if not b.applied & others]
    return (mine or alone or backwards)[-1]


def _counted(cause: Cause, first: int, updates: int) -> Cause:
    return replace(cause, first_update=first, updates=updates)
