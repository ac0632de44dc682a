"""Cuts that do not show: the network still moves, by another term of the same loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from whygrad.flow.paths import Reach
from whygrad.flow.terms import Term
from whygrad.model import Backward, Confidence, Optimizer, Parameter, Site
from whygrad.rules.attribution.absent import cut_cause, feeds_another_network, together
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

Place: TypeAlias = tuple[str, Site | None]
Members: TypeAlias = list[tuple[Parameter, Cause]]


class Dead:
    """A term that trains nothing in one update: the cuts in it, each with the time when it was made."""

    def __init__(self) -> None:
        self.cuts: dict[Place, Members] = {}
        self.times: dict[Place, int] = {}

    def add(self, parameter: Parameter, cause: Cause, time: int) -> None:
        """One more parameter behind one of the cuts."""
        place = (cause.rule, cause.site)
        self.cuts.setdefault(place, []).append((parameter, cause))
        self.times[place] = max(time, self.times.get(place, 0))


def masked(situation: Situation) -> Iterator[Cause]:
    """Terms that train nothing although what should be trained stands behind a cut in them."""
    for optimizer in situation.evidence.optimizers.values():
        found: dict[object, list[Dead | None]] = {}
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if backward.applied & optimizer.held:
                    for name, dead in _terms(situation, optimizer, backward, update.since):
                        found.setdefault(name, []).append(dead)
        for deads in found.values():
            cause = _always_there(deads)
            if cause is not None:
                yield replace(cause, first_update=1, updates=optimizer.steps)


def _always_there(deads: list[Dead | None]) -> Cause | None:
    """The cut that is in the term in every update: old rollout data is only there after a rollout.

    Of several, the one made last stands nearest to the loss.
    """
    if any(dead is None for dead in deads):
        return None
    known = [dead for dead in deads if dead is not None]
    common = set.intersection(*(set(dead.cuts) for dead in known))
    if not common:
        return None
    last = known[-1]
    return together(last.cuts[max(common, key=lambda place: last.times[place])])


def _terms(
    situation: Situation, optimizer: Optimizer, backward: Backward, since: int
) -> Iterator[tuple[object, Dead | None]]:
    """Every term of a loss; with the cuts in it if it is dead."""
    silent = situation.evidence.always_absent.get(optimizer.key, frozenset())
    terms = situation.terms(backward, since)
    for term, reach in terms if len(terms) > 1 else ():
        name = (term.op.site, term.op.name, term.scalar)
        if reach.living() & backward.applied or reach.parameters.keys() & silent:
            yield name, None
        else:
            yield name, _dead(situation, optimizer, backward, term, reach, since)


def _dead(
    situation: Situation, optimizer: Optimizer, backward: Backward, term: Term, reach: Reach, since: int
) -> Dead:
    dead = Dead()
    for key in sorted(reach.parameters.keys() & optimizer.held & backward.applied):
        path = reach.path(key)
        parameter = situation.evidence.parameters.get(key)
        if path is None or parameter is None or path.living or path.through_data:
            continue
        cut = path.ops[path.cuts[0]]
        meant = term.scalar and not term.op.fresh and term.op.parameter is None
        if cut.time > since and (meant or feeds_another_network(backward, path, optimizer)):
            cause = cut_cause(optimizer, parameter, path, backward)
            cause = replace(cause, masked=True, confidence=Confidence.LIKELY, loss=term.op.site)
            dead.add(parameter, cause, cut.time)
    return dead
