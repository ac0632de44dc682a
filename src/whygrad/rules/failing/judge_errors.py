"""Errors that torch raises in the middle of an update: used twice, overwritten, inference tensors."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.source import keeps_in_attribute
from whygrad.model import Backward, Block, Changed, Crash, Mark, Op, Site, Step
from whygrad.rules import rewrite
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import Dialect, dialect_of
from whygrad.rules.failing.backward_twice import BackwardTwice
from whygrad.rules.failing.in_place_modified import InPlaceModified
from whygrad.rules.paths.judge_absent import switched_off
from whygrad.rules.paths.no_grad_block import NoGradBlock
from whygrad.rules.paths.numpy_round_trip import NumpyRoundTrip

_TRACING = (
    "TracerArrayConversionError",
    "ConcretizationTypeError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
)


def broken(situation: Situation) -> Iterator[Cause]:
    """The cause behind the message."""
    for backward in situation.evidence.loose:
        if "second time" in backward.error or "inplace operation" in backward.error:
            kept = _kept_alive(situation, backward)
            if kept is not None:
                yield _twice(situation, backward, kept)
            elif "inplace operation" in backward.error:
                yield from _overwritten(situation, backward)
    crash = situation.evidence.crash
    if crash is not None and crash.type in _TRACING and crash.op:
        yield _asked_while_traced(situation, crash)
    if crash is not None and "a leaf Variable that requires grad" in crash.error:
        yield _leaf_written(situation, crash)
    if crash is not None and "Inference tensors cannot be saved" in crash.error:
        yield from _inference(situation)
    if crash is not None and crash.block is not None and switched_off(situation) and not _traced(situation):
        yield _switched_off(situation, crash, crash.block)


def _traced(situation: Situation) -> bool:
    """Was the way from a parameter that an optimizer holds to the loss that failed seen? It says more."""
    failed = [b for b in situation.evidence.loose if b.error]
    return any(situation.holders.keys() & situation.reach(b).parameters.keys() for b in failed)


def _kept_alive(situation: Situation, backward: Backward) -> Op | None:
    """The value of an earlier update's graph that this loss still hangs on: the latest such value.

    Where torch complains of an overwritten value, the graph was retained. It is a kept value all the same
    if something was computed from it after the earlier backward, and what was overwritten is behind it;
    otherwise a step came in between.
    """
    cone = _cone(backward)
    old = [op for op in cone if op.walked and op.walked != backward.number and op.carries]
    ids = {op.id for op in old}
    users = [(op, c) for op in old for c in cone if op.id in c.inputs and c.id not in ids]
    if "inplace operation" in backward.error:
        times = {b.number: b.time for b in situation.backwards}
        users = [(op, c) for op, c in users if c.time > times.get(op.walked, 0) and _touched(backward, op)]
        if not users:
            return None
    entering = [op for op, _ in users]
    return max(entering or old, key=lambda op: op.time, default=None)


def _touched(backward: Backward, kept: Op) -> bool:
    """Is an overwritten value behind this one? Yes, where nobody knows which one it was."""
    behind = ancestors(backward.flow, kept.id)
    return not backward.changed or any(changed.op in behind for changed in backward.changed)


def _cone(backward: Backward) -> list[Op]:
    """What a backward walks through: only values that carry gradient."""
    seen = set(backward.roots)
    todo = list(backward.roots)
    found = []
    while todo:
        op = backward.flow[todo.pop()]
        found.append(op)
        for there in op.inputs:
            if there not in seen and backward.flow[there].carries:
                seen.add(there)
                todo.append(there)
    return found


def _suffering(situation: Situation, backward: Backward) -> frozenset[int]:
    held = backward.reached & situation.holders.keys()
    return held or backward.reached


def _twice(situation: Situation, backward: Backward, kept: Op) -> Cause:
    again = kept.id in backward.roots  # the very same loss: nothing was kept but itself
    site = backward.site if again else _where_kept(kept, backward)
    return BackwardTwice(
        site=site,
        again=again,
        subjects=situation.parameters(_suffering(situation, backward)),
        chain=(
            Step.at(kept.site if again else site, kept.name, mark=Mark.HERE),
            Step(f"an earlier {_here(situation).differentiate} has used its graph up"),
            _failing(situation, backward),
        ),
        loss=backward.flow[backward.roots[0]].site,
        backward=backward.site,
        op=kept.name,
    )


def _failing(situation: Situation, backward: Backward) -> Step:
    return Step.at(backward.site, _here(situation).differentiate, mark=Mark.BROKEN)


def _here(situation: Situation) -> Dialect:
    return dialect_of(situation.evidence.framework)


def _where_kept(kept: Op, backward: Backward) -> Site | None:
    """The line that keeps the value from one update to the next.

    An attribute, whoever fills it; a name in the function that calls ``backward``; a name that the line both
    reads and writes, the furthest out: what is carried inside of a module is handed out by its caller.
    """
    places = [site for site in (kept.site, *kept.callers) if site is not None]
    in_attribute = [site for site in places if keeps_in_attribute(site.file, site.line)]
    at_home = [site for site in places if _same_function(site, backward.site)]
    carried = [site for site in places if rewrite.carried(site.code)]
    return next(iter((*in_attribute, *at_home, *reversed(carried))), kept.site)


def _same_function(site: Site, other: Site | None) -> bool:
    return other is not None and (site.file, site.function) == (other.file, other.function)


def _overwritten(situation: Situation, backward: Backward) -> Iterator[Cause]:
    changed = [c for c in backward.changed if c.site is not None]
    guilty = min(changed, key=lambda c: (not _by_step(c), c.op), default=None)
    if guilty is None:
        return
    used = backward.flow[guilty.op].site
    yield InPlaceModified(
        site=guilty.site,
        subjects=situation.parameters(_suffering(situation, backward)),
        chain=(
            Step(f"{guilty.value} is used", used),
            Step(f"{guilty.writer} overwrites it", guilty.site, mark=Mark.HERE),
            _failing(situation, backward),
        ),
        loss=backward.flow[backward.roots[0]].site,
        writer=guilty.writer,
        by_step=_by_step(guilty),
        value=guilty.value,
        forward=used,
        backward=backward.site,
    )


def _by_step(changed: Changed) -> bool:
    return changed.writer.endswith(".step()")


def _switched_off(situation: Situation, crash: Crash, block: Block) -> Cause:
    """Gradients were off in the whole program when ``backward`` was called."""
    members = situation.parameters(situation.holders)
    steps = (Step(block.kind, block.site, mark=Mark.CUT), Step(crash.error.splitlines()[0], crash.site))
    return NoGradBlock(block=block.kind, site=block.site, subjects=members, chain=steps)


def _leaf_written(situation: Situation, crash: Crash) -> Cause:
    """A sync, or a start, that writes into weights while gradients are on."""
    ops = [crash.flow[i] for i in crash.inputs if i in crash.flow.ops]
    keys = [op.parameter for op in ops if op.parameter is not None][:1]
    return InPlaceModified(
        site=crash.site,
        subjects=situation.parameters(keys),
        chain=(Step.at(crash.site, crash.op or "the write", mark=Mark.BROKEN),),
        writer=crash.op,
        leaf=True,
    )


def _asked_while_traced(situation: Situation, crash: Crash) -> Cause:
    """A value that stands for what is computed later was asked for its number."""
    keys = {op.parameter for op in crash.flow.ops.values() if op.parameter is not None}
    members = situation.parameters(frozenset(keys))
    steps = (
        *(Step(p.name, p.made[0] if p.made else None) for p in members[:1]),
        Step.at(crash.site, crash.op, mark=Mark.BROKEN),
    )
    return NumpyRoundTrip(way="refused", left=crash.op, site=crash.site, subjects=members, chain=steps)


def _inference(situation: Situation) -> Iterator[Cause]:
    crash = situation.evidence.crash
    assert crash is not None
    for op in crash.flow.ops.values():
        if op.block is None or "inference" not in op.block.kind:
            continue
        keys = {o.parameter for o in map(crash.flow.__getitem__, crash.inputs) if o.parameter is not None}
        networks = {
            situation.evidence.parameters[k].network for k in keys if k in situation.evidence.parameters
        }
        members = [p for p in situation.evidence.parameters.values() if p.network in networks]
        steps = (
            Step(op.block.kind, op.block.site),
            Step(op.site.code if op.site else op.name, op.site, mark=Mark.CUT),
            Step(crash.site.code if crash.site else crash.op, crash.site),
        )
        yield NoGradBlock(
            block=op.block.kind,
            inside=op.site,
            refused=True,
            site=op.block.site,
            subjects=tuple(members),
            chain=steps,
        )
        return
