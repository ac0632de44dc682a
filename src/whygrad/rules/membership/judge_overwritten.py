"""Training that is taken back: a trained network is overwritten, time and again, by one that never is."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Copy, Mark, Optimizer, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.wrong_variables import WrongVariables
from whygrad.rules.targets.judge_targets import target_networks

_OFTEN = 2


def undone(situation: Situation) -> Iterator[Cause]:
    """A worker steps its local copy, and the next copy of the global network takes the step back."""
    known = situation.evidence.parameters
    targets = {k for target in target_networks(situation) for k in target.keys}
    for optimizer in situation.evidence.optimizers.values():
        copies = [c for c in situation.evidence.copies if _takes_back(situation, optimizer, c)]
        sources = {c.source for c in copies if c.source not in targets}
        if not sources or {c.target for c in copies} < _kernels(situation, optimizer):
            continue
        last = copies[-1]
        update = situation.updates(optimizer)[-1]
        local, shared = known[last.target].network, known[last.source].network
        step = update.site.code if update.site else dialect_of(situation.evidence.framework).step
        yield WrongVariables(
            kind="local",
            others=(local,),
            meant=(shared,),
            copy=last.site,
            site=update.site,
            subjects=situation.parameters(sources),
            chain=(
                Step(step, update.site, mark=Mark.HERE),
                Step(last.site.code if last.site else "the copy", last.site),
            ),
            optimizer=optimizer.name,
            first_update=1,
            updates=optimizer.steps,
        )


def _takes_back(situation: Situation, optimizer: Optimizer, copy: Copy) -> bool:
    """A whole copy, made again after a step, from weights that have never changed."""
    updates = situation.updates(optimizer)
    source = situation.evidence.parameters.get(copy.source)
    if not updates or source is None or source.moved or copy.source in situation.holders:
        return False
    whole = copy.factor == 1 and not copy.own and copy.target in optimizer.held
    return whole and copy.times >= _OFTEN and copy.last > updates[0].time and copy.first < updates[-1].time


def _kernels(situation: Situation, optimizer: Optimizer) -> set[int]:
    """Biases begin as zeros, so a copy of theirs may go unnoticed."""
    known = situation.evidence.parameters
    return {k for k in optimizer.held if k in known and len(known[k].shape) > 1}
