"""The smaller or the larger of two values, one of which is a constant by mistake: ``min(surr1, surr2)``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.few import few_per_line
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Kind, Op, Optimizer, Site
from whygrad.rules.cause import Cause
from whygrad.rules.paths.judge_absent import cut_cause, together
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
    yield from few_per_line(op for op in living if op.kind is Kind.EXTREME and len(op.inputs) == 2)


def _cut_branch(
    situation: Situation, optimizer: Optimizer, backward: Backward, op: Op, since: int
) -> Cause | None:
    """A branch without gradient beside one that has it; a log-probability of a policy is cut off in it."""
    dead = [i for i in op.inputs if not backward.flow[i].carries]
    if len(dead) != 1:
        return None
    reach = situation.behind(backward, dead[0], since)
    members = []
    for key in sorted(reach.parameters.keys() & optimizer.held & backward.applied):
        path = reach.path(key)
        parameter = situation.evidence.parameters.get(key)
        if path is None or parameter is None or path.cost != 1 or path.ops[path.cuts[0]].time <= since:
            continue
        if is_scored(backward, path):
            cause = cut_cause(situation, optimizer, parameter, path, backward)
            members.append(
                (parameter, replace(cause, masked=True, confidence=Confidence.LIKELY, loss=op.site))
            )
    return together(members) if members else None
