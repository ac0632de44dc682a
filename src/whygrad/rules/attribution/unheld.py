"""Parameters that get a gradient which no optimizer applies."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import Reach, ancestors, living_values
from whygrad.flow.source import assignments_to
from whygrad.model import Backward, Confidence, Optimizer, Parameter, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause


def unheld(situation: Situation) -> Iterator[Cause]:
    """One cause per network (or layer) that was left out."""
    if not any(o.steps for o in situation.evidence.optimizers.values()):
        return
    groups: dict[tuple[str, Site | None], list[Parameter]] = {}
    for parameter in situation.parameters(situation.unheld):
        backward = _should_learn(situation, parameter)
        if backward is None or not parameter.alive or parameter.key in situation.crossed:
            continue
        optimizer = _nearest(situation, parameter, backward)
        rule, site = _judge(situation, parameter, optimizer)
        if rule == "not-in-optimizer" and backward.tape:
            site = backward.site  # a tape is asked for a list; the optimizer has none of its own
        groups.setdefault((rule, site), []).append(parameter)
    for (rule, site), members in groups.items():
        backward = _should_learn(situation, members[0])
        assert backward is not None
        optimizer = _nearest(situation, members[0], backward)
        yield _cause(situation, rule, site, tuple(members), optimizer, backward)


def _should_learn(situation: Situation, parameter: Parameter) -> Backward | None:
    """The backward that shows that this parameter was meant to be trained.

    A frozen teacher or a target network may collect gradients that nobody wants. A parameter is missed
    when a term of the loss trains nothing without it, when trained layers stand between it and the loss,
    or when other parts of its own network are trained.
    """
    key = parameter.key
    if not parameter.trainable:  # on purpose, unless somebody asked for its gradients and got an empty list
        empty = [b for b in situation.evidence.loose if b.tape and not b.wanted and key in b.reached]
        return empty[-1] if empty and not situation.evidence.finished else None
    if parameter.key in situation.rejected:
        return next((b for b in situation.backwards if key in b.reached), None)
    if parameter.written and not parameter.replaced_at:
        return None  # updated by hand, or synced from another network
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
        if _has_own_term(situation, backward, key):
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


def _has_own_term(situation: Situation, backward: Backward, key: int) -> bool:
    """A term of the loss that trains this parameter's network and nothing that is applied."""
    for _, reach in situation.terms(backward):
        living = reach.living()
        if key in living and not living & backward.applied and not _meant_for_others(situation, reach):
            return True
    return False


def _meant_for_others(situation: Situation, reach: Reach) -> bool:
    """The term would train what an optimizer holds, if it were not cut: this network only passes it on."""
    paths = [reach.path(key) for key in reach.parameters.keys() & situation.holders.keys()]
    return any(path is not None and path.cost == 1 for path in paths)


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
) -> tuple[str, Site | None]:
    made = optimizer.made if optimizer is not None else None
    if parameter.untracked_in:
        return "not-tracked", _creation(parameter)
    if parameter.captured_at is not None:
        return "stale-closure", parameter.captured_at
    asked = [b for b in situation.backwards if parameter.key in b.wanted]
    if parameter.key in situation.rejected:
        return "stale-optimizer", _replaced(situation, parameter) or made
    if not parameter.trainable:
        return "frozen", parameter.frozen_at or made
    if asked and _replaced(situation, parameter) is None:
        return "no-step", asked[-1].site
    if parameter.untracked_how == "lone layer":
        return "not-tracked", _creation(parameter)
    replaced = _replaced(situation, parameter)
    if replaced is not None:
        return "stale-optimizer", replaced
    if optimizer is not None and _duplicate(situation, optimizer):
        return "wrong-variables", made
    return "not-in-optimizer", made


def _creation(parameter: Parameter) -> Site | None:
    return parameter.made[0] if parameter.made else None


def _replaced(situation: Situation, parameter: Parameter) -> Site | None:
    """The optimizer holds a predecessor: where did the new one take its place?"""
    if parameter.replaced_at is not None:
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
    rule: str,
    site: Site | None,
    members: tuple[Parameter, ...],
    optimizer: Optimizer | None,
    backward: Backward,
) -> Cause:
    first = members[0]
    known = situation.evidence.parameters
    holds = sorted({known[k].network for k in optimizer.held if k in known}) if optimizer else []
    name = optimizer.name if optimizer is not None else ""
    details = {
        "holder": first.untracked_in,
        "how": first.untracked_how if rule == "not-tracked" else "replaced",
        "optimizers": ", ".join(o.name for o in situation.evidence.optimizers.values()),
        "optimizer": name,
        "optimizer_line": str(optimizer.made.line) if optimizer and optimizer.made else "",
        "holds": ", ".join(holds),
        "expected": ", ".join(dict.fromkeys(p.network for p in members)),
        "kind": "not-assigned",
    }
    steps = (
        Step(first.name, first.made[0] if first.made else None),
        Step("gets a gradient", backward.site),
        Step("no optimizer holds it", optimizer.made if optimizer else None, cut=True),
    )
    return Cause(
        rule,
        site,
        members,
        steps,
        details,
        confidence=Confidence.CERTAIN if rule != "stale-optimizer" else Confidence.LIKELY,
        optimizer=name,
        loss=backward.flow[backward.roots[0]].site,
        first_update=1,
        updates=optimizer.steps if optimizer else 0,
    )
