"""Advantages relative to a group: rewards minus their mean, where they are all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from whygrad.flow.facts import FEW
from whygrad.flow.paths import living_values
from whygrad.flow.ratios import is_relative
from whygrad.flow.scores import scored
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Op, Optimizer, Severity, Site, Step
from whygrad.model.kinds import KEEPS_VALUE
from whygrad.rules.losses.empty_group import MOST, NEARLY_ALL, EmptyGroup

_FAR = 64  # values between the advantage and the product with it
_LEAST = 6  # groups: of fewer nothing is said
_MANY = 16  # groups, before it is said that most of them are so
_HALF = 0.5  # of the groups, in every update: one that has more to learn from speaks for the script
_LATE = 0.25  # of the run: a task on which nothing was rewarded at first has then been looked at again
_AS_IT_IS = KEEPS_VALUE | {Kind.NEGATE, Kind.PICK}
_SEVERAL = frozenset((Kind.MULTIPLY, Kind.JOIN, Kind.PUT))


@dataclass(slots=True)
class _Seen:
    """What the updates of one optimizer show of the advantages of one line."""

    counts: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by their time: used again, seen once
    updates: dict[int, int] = field(default_factory=dict)  # the first update that used each of them
    last: tuple[Backward, Op, list[Op]] | None = None  # a backward, the advantage and the products with it

    def add(self, op: Op, update: int) -> None:
        """An update has used these groups."""
        self.counts[op.time] = op.groups
        self.updates.setdefault(op.time, update)

    def counted(self, update: int | None = None) -> tuple[int, int]:
        """The groups without spread, and all of them: of one update, or of all."""
        found = [c for time, c in self.counts.items() if update in (None, self.updates[time])]
        return sum(empty for empty, _ in found), sum(groups for _, groups in found)


def empty_groups(situation: Situation) -> Iterator[EmptyGroup]:
    """The policy is paid by advantages that are zero, in nearly all groups or in most of them."""
    for optimizer in situation.evidence.optimizers.values():
        for site, seen in _advantages(situation, optimizer).items():
            severity = _severity(seen, optimizer)
            if severity is not None:
                yield from _cause(situation, optimizer, site, seen, severity)


def _advantages(situation: Situation, optimizer: Optimizer) -> dict[Site | None, _Seen]:
    """The lines that take the mean of a group away, for a policy that this optimizer steps on."""
    found: dict[Site | None, _Seen] = {}
    for update in situation.updates(optimizer):
        for backward in update.backwards:
            met: dict[int, list[Op]] = {}
            for product, advantage in _met(situation, backward):
                met.setdefault(advantage, []).append(product)
            for number, products in met.items():
                op = backward.flow[number]
                seen = found.setdefault(op.site, _Seen())
                seen.add(op, update.number)
                seen.last = (backward, op, products)
    return found


def _met(situation: Situation, backward: Backward) -> Iterator[tuple[Op, int]]:
    """The products of a score and of data from which a mean was taken away."""
    flow = backward.flow
    if not any(op.groups for op in flow.ops.values()):
        return
    for number in sorted(situation.living(backward)):
        op = flow[number]
        if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2:
            continue
        alive = [i for i in op.inputs if flow[i].carries]
        factors = [i for i in op.inputs if not flow[i].carries]
        centred = [n for i in factors for n in _centred(flow, i)] if len(alive) == 1 else []
        if centred and (scored(flow, alive[0]) or is_relative(flow, alive[0])):
            yield from ((op, n) for n in centred)


def _centred(flow: Flow, start: int) -> Iterator[int]:
    """The differences that a factor consists of, scaled, masked and put together since."""
    todo, seen = [start], {start}
    while todo and len(seen) < _FAR:
        op = flow[todo.pop()]
        if op.groups:
            yield op.id
            continue
        if op.fresh or op.parameter is not None:
            continue
        if op.kind in _SEVERAL:
            inside = op.inputs
        elif op.kind in _AS_IT_IS or (op.kind is Kind.DIVIDE and not op.swapped):
            inside = op.inputs[:1]
        else:
            continue
        todo += [i for i in inside if i not in seen]
        seen.update(inside)


def _severity(seen: _Seen, optimizer: Optimizer) -> Severity | None:
    """An error if nearly all groups are empty, a warning if most are. It must be so early and late."""
    updates, (empty, groups) = set(seen.updates.values()), seen.counted()
    alone = all(of == 1 for _, of in seen.counts.values())  # the mean of a whole batch: a rare reward is rare
    if len(updates) < FEW or groups < (_MANY if alone else _LEAST) or max(updates) < _LATE * optimizer.steps:
        return None
    shares = [none / all_of for none, all_of in map(seen.counted, updates)]
    if empty >= NEARLY_ALL * groups and min(shares) >= MOST:
        return Severity.ERROR
    most = empty >= MOST * groups and min(shares) > _HALF
    return Severity.WARNING if most and groups >= _MANY else None


def _cause(
    situation: Situation, optimizer: Optimizer, site: Site | None, seen: _Seen, severity: Severity
) -> Iterator[EmptyGroup]:
    assert seen.last is not None
    (backward, advantage, products), (empty, groups) = seen.last, seen.counted()
    keys = _behind(backward.flow, [p.id for p in products]) & backward.applied & optimizer.held
    if not keys:
        return
    beside = living_values(backward.flow, backward.roots, without=[p.id for p in products])
    moved = frozenset(backward.flow[n].parameter for n in beside)
    product = products[-1].site
    here = Step.at(site, "the advantage", mark=Mark.FLAT)
    yield EmptyGroup(
        site=site,
        subjects=situation.parameters(keys),
        chain=(here,) if product == site else (here, Step.at(product, "the policy term")),
        severity=severity,
        confidence=Confidence.CERTAIN if empty == groups else Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=backward.site,
        masked=bool(keys & moved),
        first_update=1,
        updates=optimizer.steps,
        empty=empty,
        groups=groups,
        size=prod(advantage.shape) // advantage.groups[1],
        multiplied=product,
    )


def _behind(flow: Flow, ops: list[int]) -> frozenset[int]:
    values = (flow[n].parameter for n in living_values(flow, ops))
    return frozenset(k for k in values if k is not None)
