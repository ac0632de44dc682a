"""Losses that work on more numbers than they should: (N, 1) met (N,), or one target many predictions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod

from whygrad.flow.comparisons import Comparison, Comparisons, asked, put_together
from whygrad.flow.paths import ancestors
from whygrad.flow.scores import scored
from whygrad.flow.situation import Situation
from whygrad.model import UNRANKED, Backward, Confidence, Flow, Kind, Mark, Op, Severity, Site, Step
from whygrad.model.kinds import ELEMENTWISE, SCALES, SUMS
from whygrad.rules import rewrite
from whygrad.rules.cause import Cause
from whygrad.rules.losses.broadcast_loss import BroadcastLoss, shown

_PUT_TOGETHER = frozenset((Kind.JOIN, Kind.EXPAND))
_WIDENING = frozenset((Kind.WIDEN, Kind.PICK))  # x[:, None] is a pick


def broadcast(situation: Situation) -> Iterator[Cause]:
    """The first operation of each line that broadcasts what belongs together row by row."""
    found: dict[Site | None, tuple[Backward, _Meeting]] = {}
    hits: dict[Site | None, int] = {}
    met: dict[Site | None, int] = {}
    for backward in situation.backwards:
        if not situation.whole(backward):
            continue
        inside = _inside(situation, backward)
        here = _meetings(situation, backward, inside)
        for site in {op.site for op in inside}:
            met[site] = met.get(site, 0) + 1
        for site, meeting in here.items():
            hits[site] = hits.get(site, 0) + 1
            found.setdefault(site, (backward, meeting))
    for site, (backward, meeting) in found.items():
        if 2 * hits[site] >= met[site]:
            yield _cause(situation, backward, meeting)


@dataclass(frozen=True, slots=True)
class _Meeting:
    """An operation and the two operands whose shapes differ, the one that is repeated first."""

    op: Op
    one: Op
    two: Op
    repeated: bool = False  # only the first is repeated; else each is, for every row of the other


def _meetings(situation: Situation, backward: Backward, inside: list[Op]) -> dict[Site | None, _Meeting]:
    wanted = backward.wanted if backward.tape else frozenset[int]()
    comparisons = Comparisons(backward.flow, situation.living(backward), wanted)
    found: dict[Site | None, _Meeting] = {}
    for op in inside:
        if op.site not in found and len(op.inputs) > 1:
            comparison = comparisons.at(op)
            meeting = _column_and_row(backward.flow, op, comparison)
            if meeting is None and comparison is not None and not comparisons.chosen(op):
                meeting = _one_for_many(situation, backward, op, comparison)
            if meeting is not None:
                found[op.site] = meeting
    return found


def _inside(situation: Situation, backward: Backward) -> list[Op]:
    """The arithmetic behind a loss, in the order in which it ran."""
    parts = situation.parts(backward)
    numbers = set[int]().union(*(ancestors(backward.flow, root) for root in backward.roots))
    ops = (backward.flow[n] for n in sorted(numbers) if backward.flow[n].kind in ELEMENTWISE)
    return sorted((op for op in ops if parts.behind(op.id)), key=lambda op: op.time)


def _column_and_row(flow: Flow, op: Op, comparison: Comparison | None) -> _Meeting | None:
    """The operands with shapes such as (N, 1) and (N,), if they are broadcast to (N, N)."""
    operands = [flow[i] for i in op.inputs if flow[i].floating or not flow[i].left]
    for one, two in combinations(operands, 2):
        column, row = (one, two) if len(one.shape) > len(two.shape) else (two, one)
        if not _stand_across(column, row, comparison is not None) or column.parameter or row.parameter:
            continue
        wide = _broadcast(column.shape, row.shape)
        if wide is None or (_is_known(wide) and prod(wide) <= prod(row.shape)):
            continue
        if comparison is None and _on_purpose(flow, op, column) and not _weighs_scores(flow, op, row):
            continue
        if op.site is not None and op.site.function == "forward" and (column.fresh or row.fresh):
            continue  # a constant of the network's own that happens to be as long as the batch
        return _Meeting(op, column, row)
    return None


def _stand_across(column: Op, row: Op, compared: bool) -> bool:
    """(N, 1) and (N,); (N, 1, 1) and (N,), too, if they are compared."""
    extra = len(column.shape) - len(row.shape)
    if not row.shape or extra < 1 or (extra > 1 and not compared):
        return False
    return column.shape == (*row.shape, *(1,) * extra)


def _one_for_many(
    situation: Situation, backward: Backward, op: Op, comparison: Comparison
) -> _Meeting | None:
    """A target that is compared with all outputs of a network, or one prediction with all targets."""
    flow = backward.flow
    one, two = sorted((comparison.prediction, comparison.target), key=lambda side: _length(side.shape))
    joined = put_together(flow, two) if one.shape else put_together(flow, two, _PUT_TOGETHER)
    if one.parameter or two.parameter or joined:
        return None
    if not one.shape and two.shape != UNRANKED and _length(two.shape) > 1:
        made = asked(flow, one) and bool(situation.parts(backward).behind(one.id))
        return _Meeting(op, one, two, repeated=True) if made else None
    rows = one.shape[:-1] == two.shape[:-1] and len(one.shape) == len(two.shape) > 1
    if rows and one.shape[-1] == 1 and two.shape[-1] > 1 and _length(one.shape) > 1:
        return _Meeting(op, one, two, repeated=True)
    return None


def _length(shape: tuple[int, ...]) -> int:
    """How many numbers; a length that is not known yet counts as two."""
    return prod(2 if length < 0 else length for length in shape)


def _on_purpose(flow: Flow, op: Op, column: Op) -> bool:
    """``x[:, None] - y``: the extra dimension was asked for in the very same line."""
    if column.site is None or column.site != op.site or column.kind not in _WIDENING:
        return False
    return bool(column.inputs) and len(flow[column.inputs[0]].shape) < len(column.shape)


def _weighs_scores(flow: Flow, op: Op, row: Op) -> bool:
    """An advantage of N x N beside N log-probabilities: whatever was asked for, each sample has one."""
    users = [u for u in flow.ops.values() if u.kind is Kind.MULTIPLY and op.id in u.inputs]
    others = [flow[i] for u in users for i in u.inputs if i != op.id]
    return any(o.carries and o.shape == row.shape and scored(flow, o.id) for o in others)


def _broadcast(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...] | None:
    size = max(len(one), len(two))
    a, b = (1,) * (size - len(one)) + one, (1,) * (size - len(two)) + two
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def _is_known(shape: tuple[int, ...]) -> bool:
    return all(length >= 0 for length in shape)


def _cause(situation: Situation, backward: Backward, meeting: _Meeting) -> Cause:
    op, column, row = meeting.op, meeting.one, meeting.two
    wide = _broadcast(column.shape, row.shape) or ()
    keys = situation.parts(backward).behind(op.id) & backward.applied or backward.applied or backward.reached
    harmless = not meeting.repeated and _only_averaged(backward, op)
    return BroadcastLoss(
        site=op.site,
        subjects=situation.parameters(keys),
        chain=(_side(column), _side(row), Step(f"together {shown(wide)}", op.site, mark=Mark.WIDE)),
        severity=_severity(meeting, harmless),
        confidence=Confidence.CERTAIN if _is_known(wide) and not meeting.repeated else Confidence.LIKELY,
        loss=backward.flow[backward.roots[0]].site,
        first_update=1,
        column=column.shape,
        row=row.shape,
        wide=wide,
        names=(_name(column, op) or "column", _name(row, op) or "row"),
        harmless=harmless,
        repeated=meeting.repeated,
    )


def _severity(meeting: _Meeting, harmless: bool) -> Severity:
    """One for many may be meant: several critics learn from one target."""
    if harmless:
        return Severity.NOTE
    return Severity.WARNING if meeting.repeated else Severity.ERROR


def _side(operand: Op) -> Step:
    line = rewrite.uncommented(operand.site.code) if operand.site is not None else ""
    return Step(f"{line or operand.name}: {shown(operand.shape)}", operand.site)


def _name(operand: Op, op: Op) -> str:
    """What an operand is called: an earlier line of the same function assigns it, and this one reads it."""
    made, used = operand.site, op.site
    if made is None or used is None or made == used:
        return ""
    together = (made.file, made.function) == (used.file, used.function)
    name = rewrite.assigned(made.code) if together else ""
    return name if name and re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.(\[])", used.code) else ""


def _only_averaged(backward: Backward, op: Op) -> bool:
    """A sum that only goes into a mean: the mean over N x N is the same as the mean over N."""
    if op.kind not in SUMS:
        return False
    users: dict[int, list[Op]] = {}
    for user in backward.flow.ops.values():
        for i in user.inputs:
            users.setdefault(i, []).append(user)
    here = op
    for _ in range(6):
        following = users.get(here.id, [])
        if len(following) != 1:
            return False
        following_of, here = here.id, following[0]
        if here.kind is Kind.MEAN:
            return not here.shape
        by_a_number = here.kind in SCALES and len(here.inputs) == 1 and not here.swapped
        scaled = here.kind is Kind.NEGATE or by_a_number
        others = [backward.flow[i] for i in here.inputs if i != following_of]
        added = here.kind in SUMS and all(not o.shape for o in others)
        if not scaled and not added:
            return False
    return False
