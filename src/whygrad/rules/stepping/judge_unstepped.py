"""Gradients that nobody applies, and losses that only pretend to have one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Kind, Mark, Op, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.stepping.fake_root import FakeRoot
from whygrad.rules.stepping.no_step import NoStep

_OFTEN = 3  # steps with a learning rate of zero, from the first one on
_LONG = 10  # the same, when it has become zero later
_NOWHERE = Step("no step gets it", mark=Mark.LOST)


def no_step(situation: Situation) -> Iterator[Cause]:
    """An optimizer that never steps, or steps with a learning rate of zero."""
    evidence = situation.evidence
    may_step = evidence.running or not evidence.finished  # it may still be about to
    for optimizer in evidence.optimizers.values():
        if optimizer.lr_always_zero and optimizer.steps >= _OFTEN:
            yield _times_zero(situation, optimizer, optimizer.held)
        else:
            yield from _at_rest(situation, optimizer)
        yield from _dropped(situation, optimizer)
        if not may_step and _should_step(situation, optimizer):
            yield from _never_stepped(situation, optimizer)
    if not may_step and not evidence.optimizers:
        yield from _for_nobody(situation)


def _at_rest(situation: Situation, optimizer: Optimizer) -> Iterator[Cause]:
    """A rate of zero for a part of what it holds, or for most of the run; at the end a schedule may end."""
    for since in sorted(set(optimizer.still.values())):
        members = frozenset(key for key, start in optimizer.still.items() if start == since)
        steps = optimizer.steps - since + 1
        if steps >= (_OFTEN if since == 1 else max(_LONG, optimizer.steps / 2)):
            found = _times_zero(situation, optimizer, members, since)
            yield found if members == optimizer.held else replace(found, severity=Severity.WARNING)


def _times_zero(
    situation: Situation, optimizer: Optimizer, members: frozenset[int], since: int = 1
) -> NoStep:
    made = optimizer.made
    return NoStep(
        site=made,
        subjects=situation.parameters(members),
        chain=(Step(optimizer.name, made), Step("learning rate 0", made, mark=Mark.HERE)),
        optimizer=optimizer.name,
        first_update=since,
        updates=optimizer.steps - since + 1,
        rate_zero=True,
    )


def _dropped(situation: Situation, optimizer: Optimizer) -> Iterator[Cause]:
    """It steps, and what comes out is thrown away, each time but perhaps the last one that was seen."""
    updates = situation.updates(optimizer)
    gone = [u for u in updates if u.dropped]
    unknown = 2 if optimizer.by_hand else 1  # the last ones, which somebody has still
    if not gone or len(gone) < max(min(2, len(updates)), len(updates) - unknown):
        return
    last = gone[-1]
    members = situation.parameters(last.dropped)
    call = dialect_of(situation.evidence.framework).step
    yield NoStep(
        site=last.site,
        subjects=members,
        chain=(
            Step(members[0].name, members[0].made[0] if members[0].made else None),
            Step("gets a gradient", last.backwards[-1].site if last.backwards else None),
            Step(f"{call} gives it back changed", last.site, mark=Mark.HERE),
            Step("the result is dropped", last.site, mark=Mark.LOST),
        ),
        optimizer=optimizer.name,
        dropped=True,
        first_update=gone[0].number,
        updates=optimizer.steps,
    )


def _should_step(situation: Situation, optimizer: Optimizer) -> bool:
    """It never does, it could, and nobody moves its parameters in another way."""
    moved = {k for o in situation.evidence.optimizers.values() if o.steps for k in o.held}
    if optimizer.steps or optimizer.held & moved:
        return False
    members = situation.parameters(optimizer.held)
    return any(p.trainable for p in members) and not any(p.written for p in members)


def _never_stepped(situation: Situation, optimizer: Optimizer) -> Iterator[Cause]:
    reaching = [b for b in situation.backwards if b.reached & optimizer.held and not b.error]
    if sum(b.runs for b in reaching) < 2:
        return
    members, last = situation.parameters(optimizer.held), reaching[-1]
    missing = f"{optimizer.name}.{dialect_of(situation.evidence.framework).step} is never called"
    found = unapplied(last, members, optimizer, Step(missing, optimizer.made, mark=Mark.LOST))
    yield replace(found, updates=len(reaching))


def _for_nobody(situation: Situation) -> Iterator[Cause]:
    """Gradients that a script asks for in a loop, without an optimizer or a hand that would use them."""
    lines: dict[Site | None, list[Backward]] = {}
    for backward in situation.backwards:
        if backward.tape and backward.wanted & backward.reached and not backward.error:
            lines.setdefault(backward.site, []).append(backward)
    for calls in lines.values():
        members = situation.parameters(calls[-1].wanted & calls[-1].reached)
        if sum(b.runs for b in calls) >= _OFTEN and not any(map(_moves, members)):
            found = unapplied(calls[-1], members, None)
            yield replace(found, severity=Severity.WARNING, confidence=Confidence.LIKELY, updates=len(calls))


def _moves(parameter: Parameter) -> bool:
    """Written by hand; or it need not move."""
    given = parameter.written or parameter.trained or parameter.loaded
    return given or not parameter.trainable or not parameter.lasting


def unapplied(
    backward: Backward, members: tuple[Parameter, ...], optimizer: Optimizer | None, end: Step = _NOWHERE
) -> NoStep:
    """The gradients of this call, which nobody applies; ``end`` is where their way ends."""
    first = members[0]
    return NoStep(
        site=backward.site,
        subjects=members,
        chain=(
            Step(first.name, first.made[0] if first.made else None),
            Step("gets a gradient", backward.site),
            end,
        ),
        optimizer=optimizer.name if optimizer is not None else "",
        loss=backward.flow[backward.roots[0]].site,
        asked=backward.tape or bool(backward.wanted),
    )


def fake_root(situation: Situation, real: list[Cause]) -> Iterator[Cause]:
    """``loss.requires_grad = True``: backward runs, and nothing stands behind the loss."""
    behind = next((c for c in real if c.subjects and not c.masked), None)
    if behind is None:
        return
    done: set[Site | None] = set()
    for root in _roots(situation):
        if _pretends(root) and root.site not in done:
            done.add(root.site)
            yield _pretence(root, behind)


def _roots(situation: Situation) -> Iterator[Op]:
    for backward in situation.backwards:
        if not backward.error:
            yield from (backward.flow[number] for number in backward.roots)


def _pretends(root: Op) -> bool:
    return root.kind is Kind.ASK or (root.fresh and root.carries)


def _pretence(root: Op, real: Cause) -> Cause:
    return FakeRoot(
        site=root.site,
        subjects=real.subjects,
        chain=(*real.chain, Step.at(root.site, root.name)),
        optimizer=real.optimizer,
        loss=root.site,
        first_update=real.first_update,
        updates=real.updates,
        real=real,
    )
