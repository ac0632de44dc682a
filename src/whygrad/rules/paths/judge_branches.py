"""The smaller or the larger of two values, one of which is a constant by mistake: ``min(surr1, surr2)``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.few import few_per_line
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Op, Optimizer, Site
from whygrad.model.kinds import EXTREMES
from whygrad.rules.cause import Cause
from whygrad.rules.paths.judge_absent import cut_cause, feeds_another_network, together
from whygrad.rules.paths.judge_masked import is_scored


def branches(situation: Situation) -> Iterator[Cause]:
    """One cause per line that cuts one branch, in every recorded update in which the branches meet."""
    for optimizer in situation.evidence.optimizers.values():
        found: dict[Site | None, list[Cause]] = {}
        whole: set[Site | None] = set()
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                if backward.applied & optimizer.held and situation.whole(backward):
                    for op in _extremes(situation, backward):
                        cause = _cut_branch(situation, optimizer, backward, op, update.since)
                        if cause is None:
                            whole.add(op.site)
                        else:
                            found.setdefault(op.site, []).append(cause)
        for site, causes in found.items():
            if site not in whole:
                yield replace(causes[-1], first_update=1, updates=optimizer.steps)


def _extremes(situation: Situation, backward: Backward) -> Iterator[Op]:
    """Where gradient goes to the smaller or the larger one of two values, row by row."""
    living = (backward.flow[number] for number in sorted(situation.living(backward)))
    yield from few_per_line(op for op in living if op.kind in EXTREMES and len(op.inputs) == 2)


def _cut_branch(
    situation: Situation, optimizer: Optimizer, backward: Backward, op: Op, since: int
) -> Cause | None:
    """A branch without gradient for those whom the other one trains.

    What was cut off in it is a log-probability, or goes into another network: the second of two critics.
    """
    one, two = (situation.behind(backward, number, since) for number in op.inputs)
    for dead, living in ((one, two), (two, one)):
        members = []
        for key in sorted((living.living() - dead.living()) & optimizer.held & backward.applied):
            path = dead.path(key)
            parameter = situation.evidence.parameters.get(key)
            if path is None or parameter is None or path.cost != 1 or path.ops[path.cuts[0]].time <= since:
                continue
            if is_scored(backward, path) or feeds_another_network(backward, path, optimizer):
                cause = cut_cause(situation, optimizer, parameter, path, backward)
                cause = replace(cause, masked=True, confidence=Confidence.LIKELY, loss=op.site)
                members.append((parameter, cause))
        if members:
            return together(members)
    return None
