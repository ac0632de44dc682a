"""Parameters that get a gradient which no optimizer applies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from whygrad.flow.paths import Reach, ancestors, living_values
from whygrad.flow.situation import Situation
from whygrad.flow.source import assignments_to
from whygrad.model import Backward, Confidence, Mark, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.not_in_optimizer import NotInOptimizer
from whygrad.rules.membership.not_tracked import NotTracked
from whygrad.rules.membership.stale_closure import StaleClosure
from whygrad.rules.membership.stale_optimizer import StaleOptimizer
from whygrad.rules.membership.wrong_variables import WrongVariables
from whygrad.rules.stepping.judge_unstepped import unapplied
from whygrad.rules.stepping.no_step import NoStep

Kind: TypeAlias = type[Cause]


def unheld(situation: Situation) -> Iterator[Cause]:
    """One cause per network (or layer) that was left out."""
    if not any(o.steps for o in situation.evidence.optimizers.values()) or situation.awaits_optimizer:
        return
    groups: dict[tuple[Kind, Site | None], list[Parameter]] = {}
    for parameter in situation.parameters(situation.unheld):
        backward = _should_learn(situation, parameter)
        if backward is None or not parameter.alive or parameter.key in situation.crossed:
            continue
        if situation.cut_short and _may_still_learn(situation, parameter):
            continue
        optimizer = _nearest(situation, parameter, backward)
        kind, site = _judge(situation, parameter, optimizer)
        if kind is NotInOptimizer and backward.tape:
            site = backward.site  # a tape is asked for a list; the optimizer has none of its own
        groups.setdefault((kind, site), []).append(parameter)
    for (kind, site), members in groups.items():
        backward = _should_learn(situation, members[0])
        assert backward is not None
        optimizer = _nearest(situation, members[0], backward)
        yield _cause(situation, kind, site, tuple(members), optimizer, backward)


def _may_still_learn(situation: Situation, parameter: Parameter) -> bool:
    """No line has computed its gradient twice: the loop has not come round, it may be about to be applied."""
    if parameter.untracked_in or parameter.replaced_at or parameter.captured_at:
        return False
    if parameter.key in situation.rejected:
        return False  # the optimizer has said so itself
    lines: dict[Site | None, int] = {}
    for backward in situation.backwards:
        if parameter.key in backward.reached:
            lines[backward.site] = lines.get(backward.site, 0) + backward.runs
    return max(lines.values(), default=0) < 2


def _should_learn(situation: Situation, parameter: Parameter) -> Backward | None:
    """The backward that shows that this parameter was meant to be trained.

    A frozen teacher or a target network may collect gradients that nobody wants. A parameter is missed
    when a term of the loss trains nothing without it, when trained layers stand between it and the loss,
    or when other parts of its own network are trained.
    """
    key = parameter.key
    if not parameter.trainable:
        return None  # on purpose; where an empty list was asked for, see judge_empty
    if parameter.key in situation.rejected:
        return next((b for b in situation.backwards if key in b.reached), None)
    if parameter.written and parameter.moved and not parameter.replaced_at:
        return None  # updated by hand, or synced from another network; not: its own old weights put back
    if situation.is_copy(key) and _replaced(situation, parameter) is None:
        return None
    known = situation.evidence.parameters
    siblings = {k for k in situation.holders if k in known and known[k].network == parameter.network}
    for backward in situation.backwards:
        if key not in backward.reached or (backward.tape and not backward.wanted):
            continue
        alone = parameter.network == parameter.name
        if siblings or alone or parameter.untracked_in or parameter.replaced_at or parameter.captured_at:
            return backward
        if backward.applied and _upstream_of_trained(situation, backward, key):
            return backward
        if backward.wanted and not parameter.loaded and _beside_trained(situation, backward, parameter):
            return backward
        if parameter.untracked_how == "lone layer" and not parameter.loaded and _fed(backward, key):
            return backward
        if situation.whole(backward) and _has_own_term(situation, backward, key):
            return backward
    return None


def _upstream_of_trained(situation: Situation, backward: Backward, key: int) -> bool:
    path = situation.reach(backward).path(key)
    if path is None:
        return False
    after = (backward.flow.parameter(i) for op in path.ops[2:] for i in op.inputs)
    trained = backward.applied if not backward.wanted else situation.holders.keys()
    return any(used in trained and used != key for used in after)


def _beside_trained(situation: Situation, backward: Backward, parameter: Parameter) -> bool:
    """A head among others: what is trained feeds it, and has other ways to the loss as well.

    A fixed network that merely judges what comes out of the trained one is the only way to the loss.
    """
    flow = backward.flow
    own = {k for k, p in situation.evidence.parameters.items() if p.network == parameter.network}
    inside = {op.id for op in flow.ops.values() if any(flow.parameter(i) in own for i in op.inputs)}
    values = living_values(flow, backward.roots)
    feeding = {flow.parameter(i) for op in inside & values for i in ancestors(flow, op)}
    around = {flow.parameter(i) for i in living_values(flow, backward.roots, without=inside)}
    return bool(feeding & around & backward.applied)


def _fed(backward: Backward, key: int) -> bool:
    """A single layer, not a network that judges: what is trained goes into it."""
    flow = backward.flow
    inside = [op.id for op in flow.ops.values() if any(flow.parameter(i) == key for i in op.inputs)]
    return any(flow.parameter(i) in backward.applied for op in inside for i in ancestors(flow, op))


def _has_own_term(situation: Situation, backward: Backward, key: int) -> bool:
    """A term of the loss that trains this parameter's network and nothing that is applied."""
    for _, reach in situation.terms(backward):
        living = reach.living()
        alone = key in living and not living & backward.applied
        if alone and not _meant_for_others(situation, backward, reach, key):
            return True
    return False


def _meant_for_others(situation: Situation, backward: Backward, reach: Reach, key: int) -> bool:
    """The term would train what an optimizer holds, if it were not cut: this network only passes it on."""
    known, flow = situation.evidence.parameters, backward.flow
    own = {k for k, p in known.items() if p.network == known[key].network}
    paths = [reach.path(held) for held in reach.parameters.keys() & situation.holders.keys()]
    cut = [path for path in paths if path is not None and path.cost == 1]
    return any(flow.parameter(i) in own for path in cut for op in path.ops[1:] for i in op.inputs)


def _nearest(situation: Situation, parameter: Parameter, backward: Backward) -> Optimizer | None:
    """The optimizer that one would have expected to hold it: the one that stepped on this backward."""
    optimizers = situation.evidence.optimizers
    stepped = [
        optimizers[u.optimizer]
        for u in situation.evidence.updates
        if any(b.number == backward.number for b in u.backwards)
    ]
    known = situation.evidence.parameters
    family = [o for o in stepped if any(known[k].network == parameter.network for k in o.held if k in known)]
    idle = [o for o in stepped if not o.held & backward.reached]
    next_one = [o for o in (*idle, *stepped) if o.key == backward.follower]
    chosen = family or next_one or idle or stepped or [o for o in optimizers.values() if o.steps]
    return chosen[0] if chosen else None


def _judge(
    situation: Situation, parameter: Parameter, optimizer: Optimizer | None
) -> tuple[Kind, Site | None]:
    made = optimizer.made if optimizer is not None else None
    if parameter.untracked_in:
        return NotTracked, _creation(parameter)
    if parameter.captured_at is not None:
        return StaleClosure, parameter.captured_at
    asked = [b for b in situation.backwards if parameter.key in b.wanted]
    if parameter.key in situation.rejected:
        return StaleOptimizer, _replaced(situation, parameter) or made
    if asked and _replaced(situation, parameter) is None:
        return NoStep, asked[-1].site
    if parameter.untracked_how == "lone layer":
        return NotTracked, _creation(parameter)
    replaced = _replaced(situation, parameter)
    if replaced is not None:
        return StaleOptimizer, replaced
    if optimizer is not None and _duplicate(situation, optimizer):
        return WrongVariables, made
    return NotInOptimizer, made


def _creation(parameter: Parameter) -> Site | None:
    return parameter.made[0] if parameter.made else None


def _came_late(situation: Situation, parameter: Parameter) -> bool:
    """It took the place of another one when there was an optimizer already; of a time not known, so be it."""
    if parameter.replaced_at is None or not parameter.replaced_when:
        return parameter.replaced_at is not None
    return any(o.key < parameter.replaced_when for o in situation.evidence.optimizers.values())


def _replaced(situation: Situation, parameter: Parameter) -> Site | None:
    """The optimizer holds a predecessor: where did the new one take its place?"""
    if _came_late(situation, parameter):
        return parameter.replaced_at
    known = situation.evidence.parameters
    stale = [
        o
        for o in situation.evidence.optimizers.values()
        if o.held
        and any(not known[k].alive and _successor(known[k], parameter) for k in o.held if k in known)
    ]
    if not stale:
        return None
    return _assignment(parameter, stale[0]) or (parameter.made[-1] if parameter.made else stale[0].made)


def _successor(old: Parameter, new: Parameter) -> bool:
    return old.shape == new.shape or (old.name == new.name and old.key != new.key)


def _assignment(parameter: Parameter, optimizer: Optimizer) -> Site | None:
    """The line that gave the network's name to the new object, read in the source."""
    name = parameter.network.rpartition(".")[2].partition("[")[0]
    for site in parameter.made:  # innermost first: `model = Net()` is among the callers
        if any(line == site.line for line, _ in assignments_to(site.file, name)):
            return site
    if optimizer.made is None:
        return None
    file = optimizer.made.file
    others = [(line, f) for line, f in assignments_to(file, name) if f != optimizer.made.function]
    return Site.read(file, others[0][0], others[0][1]) if others else None


def _duplicate(situation: Situation, optimizer: Optimizer) -> bool:
    """Everything that this optimizer holds is held by another one already."""
    others = [o for o in situation.evidence.optimizers.values() if o.key != optimizer.key]
    return bool(optimizer.held) and any(optimizer.held <= o.held for o in others)


def _cause(
    situation: Situation,
    kind: Kind,
    site: Site | None,
    members: tuple[Parameter, ...],
    optimizer: Optimizer | None,
    backward: Backward,
) -> Cause:
    updates = optimizer.steps if optimizer else 0
    if kind is NoStep:
        found = unapplied(backward, members, optimizer)
        return replace(found, site=site, first_update=1, updates=updates)
    return kind(
        site=site,
        subjects=members,
        chain=_chain(situation, kind, site, members[0], optimizer, backward),
        optimizer=optimizer.name if optimizer else "",
        loss=backward.flow[backward.roots[0]].site,
        first_update=1,
        updates=updates,
        **_facts(situation, kind, members, optimizer, backward),
    )


def _facts(
    situation: Situation,
    kind: Kind,
    members: tuple[Parameter, ...],
    optimizer: Optimizer | None,
    backward: Backward,
) -> dict[str, Any]:
    """What this kind of cause has beside the others."""
    held = tuple(sorted(_networks(situation.parameters(optimizer.held)))) if optimizer else ()
    if kind is NotTracked:
        return {"holder": members[0].untracked_in, "how": members[0].untracked_how}
    if kind is StaleOptimizer:
        return {"made": optimizer.made if optimizer else None, "confidence": Confidence.LIKELY}
    if kind is WrongVariables:
        return {"others": held, "meant": _networks(members)}
    if kind is NotInOptimizer:
        names = tuple(o.name for o in situation.evidence.optimizers.values())
        asked = backward.site if backward.tape else None
        return {"optimizers": names, "holds": held, "selective": backward.tape, "asked": asked}
    return {}


def _networks(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.network for p in parameters))


def _chain(
    situation: Situation,
    kind: Kind,
    site: Site | None,
    first: Parameter,
    optimizer: Optimizer | None,
    backward: Backward,
) -> tuple[Step, ...]:
    """From the parameter to the call that does not have it."""
    words = dialect_of(situation.evidence.framework)
    start = Step(first.name, first.made[0] if first.made else None)
    made, name = (optimizer.made, optimizer.name) if optimizer else (None, "the optimizer")
    if kind is StaleOptimizer:
        old = f"{name} still holds the old {words.parameters}"
        return (start, Step("the loss depends on it", backward.site), Step(old, made, mark=Mark.HERE))
    if backward.tape and kind in (NotInOptimizer, NotTracked):
        unasked = f"is not among the {words.parameters} that are asked for"
        return (start, Step(unasked, backward.site, mark=Mark.HERE))
    return (
        start,
        Step("gets a gradient", backward.site),
        Step("no optimizer holds it", made, mark=Mark.LOST),
    )
