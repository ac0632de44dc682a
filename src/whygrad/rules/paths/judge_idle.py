"""Terms that train nobody: the value of another network, which does not depend on what this loss trains."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.axes import is_layer
from whygrad.flow.paths import Reach
from whygrad.flow.situation import Situation
from whygrad.flow.terms import Term, written
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Optimizer, Site, Step
from whygrad.model.kinds import KEEPS_SIGN
from whygrad.rules.cause import Cause
from whygrad.rules.paths.loss_independent import LossIndependent

_MOST = 64
_PASSED = (KEEPS_SIGN - {Kind.BOUND}) | {Kind.NEGATE}


def idle(situation: Situation) -> Iterator[Cause]:
    """``(alpha * log_pi - q(s, stored_action)).mean()``: only the first term trains the actor.

    Nothing is said of a loss that was asked for the other network, too, in this update or in another one.
    """
    asked: dict[Site | None, frozenset[int]] = {}
    for backward in situation.backwards:
        asked[backward.site] = asked.get(backward.site, frozenset()) | backward.applied
    for backward in situation.backwards:
        for site in _roots(backward):
            asked[site] = asked.get(site, frozenset()) | backward.applied
    found: dict[object, Cause] = {}
    alive: set[object] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if not backward.applied & optimizer.held or not situation.whole(backward):
                    continue
                sites = (*_roots(backward), backward.site)
                trained = frozenset[int]().union(*(asked[site] for site in sites))
                for term, useless in _values(situation, backward, trained):
                    name = (optimizer.key, written(backward.flow, term))
                    if useless:
                        found[name] = _cause(situation, optimizer, backward, term)
                    else:
                        alive.add(name)
    yield from (cause for name, cause in found.items() if name not in alive)


def _roots(backward: Backward) -> list[Site]:
    sites = [backward.flow[root].site for root in backward.roots]
    return [site for site in sites if site is not None]


def _values(situation: Situation, backward: Backward, trained: frozenset[int]) -> Iterator[tuple[Term, bool]]:
    """The terms that are the value of a network; do they train nothing, beside others that do?"""
    terms = situation.terms(backward)
    if not any(reach.living() & backward.applied for _, reach in terms):
        return
    for term, reach in terms:
        if _is_value(backward.flow, term.op.id):
            living = reach.living()
            alone = bool(living) and not living & trained and living <= situation.holders.keys()
            yield term, alone and not any(_is_cut_off(reach, key) for key in backward.applied)


def _is_cut_off(reach: Reach, key: int) -> bool:
    """Does it depend on this parameter, but for a cut? That is another fault."""
    path = reach.path(key)
    return path is not None and path.cost == 1


def _is_value(flow: Flow, number: int) -> bool:
    """The output of a layer, or the smaller of two; nothing is computed with it."""
    todo, seen = [number], set[int]()
    while todo:
        op = flow[todo.pop()]
        if op.id in seen or is_layer(flow, op):
            continue
        seen.add(op.id)
        inputs = [i for i in op.inputs if flow[i].carries]
        if op.kind not in _PASSED or not inputs or len(seen) > _MOST:
            return False
        todo.extend(inputs)
    return True


def _cause(situation: Situation, optimizer: Optimizer, backward: Backward, term: Term) -> LossIndependent:
    known = situation.evidence.parameters
    living = situation.behind(backward, term.op.id).living()
    root = backward.flow[backward.roots[0]]
    return LossIndependent(
        kind="idle",
        instead=tuple(sorted({known[k].network for k in living if k in known})),
        site=term.op.site or root.site,
        subjects=situation.parameters(backward.applied & optimizer.held),
        chain=(Step.at(term.op.site, term.op.name, mark=Mark.HERE), Step.at(root.site, "the loss")),
        confidence=Confidence.LIKELY,
        masked=True,
        optimizer=optimizer.name,
        loss=root.site,
        first_update=1,
        updates=optimizer.steps,
    )
