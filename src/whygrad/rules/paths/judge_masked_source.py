"""Terms that numpy has made constants, where another term of the loss still moves the network.

``np.clip(actor(s), -1, 1)``: numpy takes a tensor without asking the framework, so that nothing leads from
the term to the actor any more. The source text says what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from whygrad.flow.situation import Situation
from whygrad.flow.terms import Term, written
from whygrad.model import Backward, Op, Optimizer
from whygrad.rules.cause import Cause
from whygrad.rules.paths.judge_absent import together
from whygrad.rules.paths.judge_source import by_source

_MOST = 64  # lines that are asked


def masked_by_source(situation: Situation) -> Iterator[Cause]:
    """Terms that train nothing, in every update, and that the source writes from what should be trained."""
    for optimizer in situation.evidence.optimizers.values():
        found: dict[object, list[Cause | None]] = {}
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if backward.applied & optimizer.held and situation.whole(backward):
                    for name, cause in _terms(situation, optimizer, backward, update.since):
                        found.setdefault(name, []).append(cause)
        for causes in found.values():
            if causes and all(cause is not None for cause in causes) and causes[-1] is not None:
                yield replace(causes[-1], first_update=1, updates=optimizer.steps)


def _terms(
    situation: Situation, optimizer: Optimizer, backward: Backward, since: int
) -> Iterator[tuple[object, Cause | None]]:
    terms = situation.terms(backward, since)
    for term, reach in terms if len(terms) > 1 else ():
        if not term.scalar or not reach.parameters or reach.parameters.keys() & backward.applied:
            continue  # data alone; or alive, or cut where it can be seen: what is left asks another network
        yield written(backward.flow, term), _read(situation, optimizer, backward, term)


def _read(situation: Situation, optimizer: Optimizer, backward: Backward, term: Term) -> Cause | None:
    alone = replace(backward, roots=(term.op.id,), ends=(*backward.ends, *_used_elsewhere(backward)))
    members = []
    for parameter in situation.parameters(backward.applied & optimizer.held):
        cause = by_source(situation, optimizer, parameter, alone)
        if cause is not None:
            members.append((parameter, cause))
    return replace(together(members), masked=True, loss=term.op.site) if members else None


def _used_elsewhere(backward: Backward) -> Iterator[int]:
    """What each line gave in the end, for other terms: numpy may have taken that as well."""
    last: dict[object, Op] = {}
    for op in backward.flow.ops.values():
        if op.carries and op.parameter is None and op.site is not None:
            place = (op.site.file, op.site.line)
            last[place] = max(op, last.get(place, op), key=lambda one: one.time)
    return (op.id for op in islice(last.values(), _MOST))
