"""Gradients that a worker's network computes for a shared one."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Backward, Handover, Mark, Note, Optimizer, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.clearing.gradient_handover import Fate, GradientHandover
from whygrad.rules.clearing.judge_dropped import dropped
from whygrad.rules.dialects import dialect_of

_OFTEN = 2


def handovers(situation: Situation) -> Iterator[Cause]:
    """For each optimizer that holds a shared network: is it given what the others compute?"""
    for optimizer in situation.evidence.optimizers.values():
        if optimizer.steps < _OFTEN:
            continue
        given = [h for h in situation.evidence.handovers if h.targets & optimizer.held]
        absent = situation.evidence.always_absent.get(optimizer.key, frozenset())
        if not given and optimizer.held <= absent:
            yield from dropped(situation, optimizer)
        elif given and optimizer.held <= absent:
            yield from _cleared(situation, optimizer, given)
        elif given:
            yield from _came_once(situation, optimizer, given) or _piled_up(situation, optimizer, given)


def unseen_origins(situation: Situation) -> Iterator[Note]:
    """Steps on gradients that no loss was seen to give: whether they are the right ones cannot be said."""
    for optimizer in situation.evidence.optimizers.values():
        updates = situation.updates(optimizer)
        absent = situation.evidence.always_absent.get(optimizer.key, frozenset())
        given = any(b.reached & optimizer.held for u in updates for b in u.backwards)
        handed = [h for h in situation.evidence.handovers if h.targets & optimizer.held]
        given = given or sum(len(h.times) for h in handed) >= len(updates)  # by hand, before each step
        if len(updates) > _OFTEN and not given and not optimizer.held <= absent:
            text = f"no loss was seen that gives {optimizer.name} the gradients which it applies"
            yield Note(text, optimizer.made, "doubt")


def _came_once(situation: Situation, optimizer: Optimizer, given: list[Handover]) -> list[Cause]:
    """After the first round the shared network is stepped with the very same gradients, again and again."""
    found: list[Cause] = []
    for handover in given:
        last = max(handover.times, default=0)
        later = [u for u in situation.updates(optimizer) if u.time > last and u.largest]
        sizes = [{k: u.largest[k] for k in handover.targets & u.largest.keys()} for u in later]
        computed = [b for u in later[1:] for b in u.backwards if b.reached & handover.sources]
        if len(sizes) > _OFTEN and len(computed) >= _OFTEN and all(s == sizes[0] != {} for s in sizes):
            found.append(_cause(situation, optimizer, "came once", handover.site, computed[-1], handover))
    return found


def _piled_up(situation: Situation, optimizer: Optimizer, given: list[Handover]) -> Iterator[Cause]:
    """All later backwards of a worker add to gradients that a step has used."""
    for handover in given:
        reaching = [b for b in situation.backwards if b.reached & handover.sources and not b.error]
        piling = [b for b in reaching if b.stale & handover.sources]
        cleared = any(c.parameters & handover.sources for c in situation.evidence.clears)
        if len(piling) >= _OFTEN and not cleared:
            yield _cause(situation, optimizer, "piled up", handover.site, piling[-1], handover)


def _cleared(situation: Situation, optimizer: Optimizer, given: list[Handover]) -> Iterator[Cause]:
    """Between the hand-over and the step."""
    steps = [u.time for u in situation.updates(optimizer)]
    for handover in given:
        for clear in reversed(situation.evidence.clears):
            between = any(t < clear.time < s for t in handover.times for s in steps if t < s)
            if clear.parameters & handover.targets and between:
                reaching = [b for b in situation.backwards if b.reached & handover.sources]
                last = reaching[-1] if reaching else None
                yield _cause(situation, optimizer, "cleared", clear.site, last, handover)
                return


def _cause(
    situation: Situation,
    optimizer: Optimizer,
    fate: Fate,
    site: Site | None,
    backward: Backward | None,
    handover: Handover,
) -> Cause:
    here = dialect_of(situation.evidence.framework)
    local = situation.parameters(handover.sources)
    there = Step.at(handover.site, "handed over", mark=Mark.HERE if handover.site == site else Mark.NONE)
    end = Step.at(site, "cleared", mark=Mark.LOST) if fate == "cleared" else None
    return GradientHandover(
        site=site,
        subjects=situation.parameters(handover.targets & optimizer.held),
        chain=tuple(
            step
            for step in (
                Step.at(backward.site if backward else None, here.differentiate),
                there,
                end,
            )
            if step is not None
        ),
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
        fate=fate,
        local=local[0].network if local else "",
        backward=backward.site if backward else None,
        handover=handover.site,
    )
