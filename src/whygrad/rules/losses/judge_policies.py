"""Policy gradients: the advantage differentiated, paths that cancel."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.few import few_per_line
from whygrad.flow.paths import living_values
from whygrad.flow.scores import is_probability, sampled_and_scored, scored
from whygrad.flow.situation import Situation
from whygrad.flow.source import is_library
from whygrad.flow.sums import Addend, Parts
from whygrad.model import Backward, Kind, Mark, Op, Severity, Site, Step
from whygrad.model.kinds import SCALES
from whygrad.rules.cause import Cause
from whygrad.rules.losses.advantage_not_detached import AdvantageNotDetached
from whygrad.rules.losses.cancelled_gradient import CancelledGradient
from whygrad.rules.stepped import stepped


def advantages(situation: Situation) -> Iterator[Cause]:
    """The factor beside a log-probability carries gradient into what a step then changes."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        if not situation.whole(backward):
            continue
        living = situation.living(backward)
        for op in few_per_line(backward.flow[number] for number in sorted(living)):
            if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2 or op.site in done or op.api:
                continue
            factor = _live_factor(backward, op, living)
            if factor is None:
                continue
            keys = _behind(backward, factor.id) & backward.applied
            site = _computed(situation, backward, factor) or op.site
            if keys and site not in done and from_observations(backward, factor.id):
                done |= {site, op.site}
                yield _advantage(situation, backward, op, site, keys)


def _live_factor(backward: Backward, product: Op, living: set[int]) -> Op | None:
    """Of a product of a log-probability and something else, the something else, if it carries gradient."""
    one, two = (backward.flow[i] for i in product.inputs)
    if not (one.carries and two.carries and one.id in living and two.id in living) or one.id == two.id:
        return None
    first, second = scored(backward.flow, one.id), scored(backward.flow, two.id)
    if first == second:
        return None
    score, factor = (one, two) if first else (two, one)
    own = _behind(backward, factor.id) <= _behind(backward, score.id)
    return None if own and is_probability(backward.flow, factor.id) else factor  # an entropy, by hand


def from_observations(backward: Backward, op: int) -> bool:
    """A value network has looked at data; a temperature has not."""
    for number in living_values(backward.flow, [op]):
        read = [backward.flow.parameter(i) is not None for i in backward.flow[number].inputs]
        if any(read) and not all(read):
            return True
    return False


def _behind(backward: Backward, op: int) -> frozenset[int]:
    values = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in values if k is not None)


def _computed(situation: Situation, backward: Backward, factor: Op) -> Site | None:
    """Where the value of a state and the return meet: the deepest sum with data in it."""
    parts = situation.parts(backward)
    addends = _through_scaling(parts, factor.id)
    data = {n for a in addends if a.data for n in a.sums}
    meeting = [n for a in addends if not a.data and a.live for n in a.sums if n in data]
    ops = [backward.flow[n] for n in meeting]
    return min(ops, key=lambda op: op.time).site if ops else backward.flow[factor.id].site


def _through_scaling(parts: Parts, op: int) -> list[Addend]:
    """The addends of an advantage; one that was normalised is looked at before that."""
    found = parts.addends(op)
    if len(found) == 1 and not found[0].data:
        inner = [i for i in parts.flow[found[0].op].inputs if parts.behind(i) and parts.flow[i].carries]
        if inner and parts.flow[found[0].op].kind in SCALES:
            return _through_scaling(parts, inner[0])
    return found


def _advantage(
    situation: Situation, backward: Backward, product: Op, site: Site | None, keys: frozenset[int]
) -> Cause:
    leak = Step.at(site, "the advantage", mark=Mark.LEAK)
    return AdvantageNotDetached(
        site=site,
        chain=(leak,) if site == product.site else (leak, Step.at(product.site, "the policy loss")),
        severity=Severity.NOTE if site is not None and is_library(site.file) else Severity.ERROR,
        loss=product.site,
        **stepped(situation, keys),
    )


def cancelled(situation: Situation) -> Iterator[Cause]:
    """Two paths from the policy to the loss that take each other away."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        for op, ratio in _cancelling(situation, backward) if situation.whole(backward) else ():
            keys = _behind(backward, op.id) & backward.applied
            if op.site in done or not keys:
                continue
            done.add(op.site)
            yield CancelledGradient(
                site=op.site,
                chain=(Step.at(op.site, op.name, mark=Mark.CANCELS),),
                loss=backward.flow[backward.roots[0]].site,
                ratio=ratio,
                **stepped(situation, keys),
            )


def _cancelling(situation: Situation, backward: Backward) -> Iterator[tuple[Op, bool]]:
    """Where two ways meet; and is it a ratio?"""
    living = situation.living(backward)
    for op in sampled_and_scored(backward.flow, living):
        yield op, False
    for op in few_per_line(backward.flow[number] for number in sorted(living)):
        if op.kind not in (Kind.SUBTRACT, Kind.DIVIDE) or len(op.inputs) != 2 or op.api:
            continue
        one, two = (backward.flow[i] for i in op.inputs)
        if not (one.id in living and two.id in living and one.floating and two.floating):
            continue
        if op.kind is Kind.SUBTRACT and not _exponentiated(backward, op, living):
            continue
        if scored(backward.flow, one.id) and scored(backward.flow, two.id):
            same = _behind(backward, one.id)
            if same and same == _behind(backward, two.id) and one.shape == two.shape:
                yield op, True


def _exponentiated(backward: Backward, op: Op, living: set[int]) -> bool:
    users = [backward.flow[n] for n in living if op.id in backward.flow[n].inputs]
    return any(u.kind is Kind.EXP for u in users)
