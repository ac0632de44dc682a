"""Faults in what a tape is asked: twice, for values that it does not watch, for the wrong list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.paths import Reach, ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.source import UNREADABLE
from whygrad.model import Backward, Flow, Mark, Op, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.wrong_variables import WrongVariables
from whygrad.rules.paths.judge_absent import cut_cause
from whygrad.rules.paths.numpy_round_trip import NumpyRoundTrip
from whygrad.rules.paths.outside_tape import OutsideTape


def asked_twice(situation: Situation) -> Iterator[Cause]:
    """A tape without ``persistent=True`` answers once."""
    for backward in situation.evidence.loose:
        if "non-persistent" not in backward.error:
            continue
        members = situation.parameters(backward.wanted)
        yield OutsideTape(
            kind="asked-twice",
            site=backward.site,
            subjects=members,
            chain=(Step.at(backward.site, _asking(situation), mark=Mark.BROKEN),),
            first_update=1,
            updates=1,
        )


def predicts(situation: Situation) -> Iterator[Cause]:
    """Legacy Keras cannot even run ``predict`` under a tape; its message names an iterator."""
    crash = situation.evidence.crash
    if crash is None or not crash.op.startswith("predict") or "IteratorGetNext" not in crash.error:
        return
    keys = {op.parameter for op in crash.flow.ops.values() if op.parameter is not None}
    members = situation.parameters(keys)
    steps = (
        Step(members[0].name if members else "the model", members[0].made[0] if members else None),
        Step(f"model.{crash.op}", crash.site, mark=Mark.CUT),
    )
    left = f"model.{crash.op}"
    yield NumpyRoundTrip(way="predict", left=left, site=crash.site, subjects=members, chain=steps, updates=1)


def unwatched(situation: Situation) -> Iterator[Cause]:
    """A tensor that is no variable is followed only if the tape is told to watch it; or it is cut off."""
    for backward in situation.backwards:
        for number in backward.unconnected:
            source = backward.flow.ops.get(number)
            if source is None:
                continue
            if source.carries:
                yield from _cut_off(situation, backward, source)
                continue
            name = _asked_for(backward)
            subject = Parameter(key=-1, name=name, network=name, shape=source.shape)
            call = Step(_asking(situation), backward.site, mark=Mark.GAP)
            yield OutsideTape(
                kind="unwatched",
                site=backward.site,
                subjects=(subject,),
                chain=(Step(name, source.site), call),
                updates=1,
            )


def _asking(situation: Situation) -> str:
    return dialect_of(situation.evidence.framework).ask


def _cut_off(situation: Situation, backward: Backward, source: Op) -> Iterator[Cause]:
    """The way from a watched tensor to what was differentiated: who computed the tensor suffers."""
    name = _asked_for(backward)
    asked = Parameter(key=-1, name=name, network=name, shape=source.shape)
    flow = Flow({**backward.flow.ops, source.id: replace(source, parameter=-1)})
    path = Reach(flow, backward.roots).path(-1)
    if path is None or path.living:
        return
    behind = {backward.flow[i].parameter for i in ancestors(backward.flow, source.id)}
    members = situation.parameters({k for k in behind if k is not None}) or (asked,)
    cause = cut_cause(situation, None, asked, path, replace(backward, flow=flow))
    yield replace(cause, subjects=members, updates=1)


def _asked_for(backward: Backward) -> str:
    """What the user wrote as the second argument of ``tape.gradient``."""
    try:
        tree = ast.parse(backward.site.code.removeprefix("return ") if backward.site else "")
    except UNREADABLE:
        return "the input"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "gradient" and len(node.args) > 1:
            return ast.unparse(node.args[1])
    return "the input"


def crossed(situation: Situation) -> Iterator[Cause]:
    """The gradients of one network were handed over with the variables of another."""
    known = situation.evidence.parameters
    copies = {(p.network, p.copy_of) for p in known.values() if p.copy_of}
    groups: dict[tuple[int, Site | None, bool], list[Parameter]] = {}
    for update in situation.evidence.updates:
        for other, owner in sorted(update.crossed):
            if other not in known or owner not in known:
                continue
            if (known[owner].network, known[other].network) in copies:
                continue  # a worker computes the gradients of the network that it has copied
            reached = any(other in b.reached for b in update.backwards)
            suffering = known[other] if reached else known[owner]
            asked = [b.site for b in update.backwards if owner in b.wanted]
            applied = not (reached and asked)  # otherwise it is the list of the other call that is wrong
            site = update.site if applied else asked[-1]
            members = groups.setdefault((update.optimizer, site, applied), [])
            if suffering not in members:
                members.append(suffering)
    for (key, site, applied), members in groups.items():
        yield replace(_wrong_list(situation, key, site, members), kind="applied" if applied else "paired")


def _wrong_list(
    situation: Situation, key: int, site: Site | None, members: list[Parameter]
) -> WrongVariables:
    optimizer = situation.evidence.optimizers[key]
    known = situation.evidence.parameters
    own = {p.key for p in members}
    pairs = {pair for u in situation.updates(optimizer) for pair in u.crossed}
    others = {a if b in own else b for a, b in pairs if a in own or b in own}
    networks = {known[k].network for k in others if k in known} - {members[0].network}
    return WrongVariables(
        others=tuple(sorted(networks)),
        meant=(members[0].network,),
        site=site,
        subjects=tuple(members),
        chain=(
            Step(members[0].name, members[0].made[0] if members[0].made else None),
            Step.at(site, dialect_of(situation.evidence.framework).step, mark=Mark.HERE),
        ),
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
    )
