"""Cuts that do not show: the network still moves, by another term of the same loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from whygrad.flow.paths import Path, Reach, ancestors
from whygrad.flow.scores import is_probability
from whygrad.flow.situation import Situation
from whygrad.flow.terms import Term, written
from whygrad.model import Backward, Confidence, Kind, Op, Optimizer, Parameter, Site
from whygrad.model.kinds import SCORES
from whygrad.rules.cause import Cause
from whygrad.rules.paths.judge_absent import (
    cut_cause,
    feeds_another_network,
    together,
    went_through_another_network,
)
from whygrad.rules.paths.judge_source import by_source

Place: TypeAlias = tuple[str, Site | None]
Members: TypeAlias = list[tuple[Parameter, Cause]]


class Dead:
    """A term that trains nothing in one update: the cuts in it, each with the time when it was made."""

    def __init__(self) -> None:
        self.cuts: dict[Place, Members] = {}
        self.times: dict[Place, int] = {}
        self.scored: set[Place] = set()  # the cuts behind a log-probability

    def add(self, parameter: Parameter, cause: Cause, path: Path, scored: bool) -> None:
        """One more parameter behind one of the cuts."""
        place = (cause.rule, cause.site)
        position = path.cuts[0]
        self.cuts.setdefault(place, []).append((parameter, cause))
        self.times[place] = max(path.ops[position].time, self.times.get(place, 0))
        if scored:
            self.scored.add(place)


def masked(situation: Situation) -> Iterator[Cause]:
    """Terms that train nothing although what should be trained stands behind a cut in them."""
    for optimizer in situation.evidence.optimizers.values():
        found: dict[object, list[Dead | None]] = {}
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if backward.applied & optimizer.held and situation.whole(backward):
                    for name, dead in _terms(situation, optimizer, backward, update.since):
                        found.setdefault(name, []).append(dead)
        for deads in found.values():
            cause = _always_there(deads)
            if cause is not None:
                yield replace(cause, first_update=1, updates=optimizer.steps)


def _always_there(deads: list[Dead | None]) -> Cause | None:
    """The cut that is in the term in every update: old rollout data is only there after a rollout.

    Of several, one behind a log-probability: that is what carries a policy gradient, and the advantage
    that it is multiplied with is cut off by design. Then the one made last, nearest to the loss.
    """
    if any(dead is None for dead in deads):
        return None
    known = [dead for dead in deads if dead is not None]
    common = set.intersection(*(set(dead.cuts) for dead in known))
    if not common:
        return None
    last = known[-1]
    return together(last.cuts[max(common, key=lambda place: (place in last.scored, last.times[place]))])


def _terms(
    situation: Situation, optimizer: Optimizer, backward: Backward, since: int
) -> Iterator[tuple[object, Dead | None]]:
    """Every term of a loss; with the cuts in it if it is dead."""
    silent = situation.evidence.always_absent.get(optimizer.key, frozenset())
    terms = situation.terms(backward, since)
    for term, reach in terms if len(terms) > 1 else ():
        name = written(backward.flow, term)
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
        if path is None or parameter is None or path.cost != 1:
            continue  # alive, or data: a draw or a choice behind another cut
        cut = path.ops[path.cuts[0]]
        # An addend that carries nothing does nothing, unless what it was cut off from is trained elsewhere.
        useless = term.scalar or went_through_another_network(backward, path, optimizer)
        meant = useless and _source(path).id not in situation.living(backward)
        meant = meant or _is_surrogate(backward, path) or (useless and cut.kind is Kind.CALLBACK)
        if cut.time > since and (meant or feeds_another_network(backward, path, optimizer)):
            cause = cut_cause(situation, optimizer, parameter, path, backward)
            cause = replace(cause, masked=True, confidence=Confidence.LIKELY, loss=term.op.site)
            dead.add(parameter, cause, path, is_scored(backward, path))
    if term.scalar and not dead.cuts and not reach.parameters:
        _by_source(situation, optimizer, backward, term, dead)
    return dead


def _by_source(
    situation: Situation, optimizer: Optimizer, backward: Backward, term: Term, dead: Dead
) -> None:
    """A term of nothing but data that was computed, outside of the framework, from what had left it."""
    data = [op for n in ancestors(backward.flow, term.op.id) if (op := backward.flow[n]).fresh]
    if not data or not backward.exits:
        return
    for parameter in situation.parameters(optimizer.held & backward.applied):
        cause = by_source(situation, optimizer, parameter, backward, term.op)
        if cause is not None:
            place = (cause.rule, cause.site)
            cause = replace(cause, masked=True, confidence=Confidence.LIKELY, loss=term.op.site)
            dead.cuts.setdefault(place, []).append((parameter, cause))
            dead.times[place] = term.op.time


def is_scored(backward: Backward, path: Path) -> bool:
    """Is a log-probability among what is cut off, or the probability itself: ``p / q``, ``one_hot * p``?"""
    before = path.ops[: path.cuts[0] + 1]
    if any(op.api.endswith("log_prob") or op.kind in SCORES for op in before):
        return True
    return is_probability(backward.flow, path.ops[path.cuts[0] - 1].id, squashed=True)


def _is_surrogate(backward: Backward, path: Path) -> bool:
    """A log-probability, or the ratio of two, that is multiplied with data and added to the loss.

    That is a policy gradient, and never a constant by design, also where another term, a KL or an entropy,
    trains the same log-probability.
    """
    if not is_scored(backward, path) or any(op.kind is Kind.STEPWISE or op.left for op in path.ops):
        return False
    cut_off = {op.id for op in path.ops[path.cuts[0] :]}
    products = [op for op in backward.flow.ops.values() if op.kind is Kind.MULTIPLY and len(op.inputs) > 1]
    others = [backward.flow[i] for op in products if cut_off & {*op.inputs} for i in {*op.inputs} - cut_off]
    return any(not o.carries and o.floating and any(n != 1 for n in o.shape) for o in others)


def _source(path: Path) -> Op:
    """The value that was cut off: what went into ``sample()``, not a step inside of it.

    If another term of the loss trains that very value, the cut is a constant by design (``x - x.detach()``,
    a sample whose log-probability is in the loss).
    """
    position = path.cuts[0]
    api = path.ops[position].api
    position -= 1
    while api and position and path.ops[position].api == api:
        position -= 1
    return path.ops[position]
