"""Ranks that train one model: does each of them have its share in the gradient that is stepped with?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, isclose

from whygrad.model import Confidence, Mark, Parameter, Severity, Site, Step, Trace
from whygrad.rules.ranks.scaled_by_ranks import How, ScaledByRanks
from whygrad.rules.ranks.unused_on_ranks import UnusedOnRanks

_CLOSE = 1e-3  # of sums that were made in single precision, in another order
_LEFT = 0.01  # of what is summed: if less is left, it has cancelled, and the rest is rounding
_LEAST = 2  # updates that agree
_Ranks = Mapping[int, Trace]  # rank -> what it had in one update


def scaled_by_ranks(updates: Mapping[int, _Ranks]) -> Iterator[ScaledByRanks]:
    """``updates``: those that every rank has of one network, under one optimizer."""
    found = [found for ranks in updates.values() if (found := _scaled(ranks)) is not None]
    if len(found) < _LEAST or len(set(found)) != 1:
        return
    (how, site), number = found[0], min(updates)
    ranks = updates[number]
    first = ranks[min(ranks)]
    if how is None or first.steady:
        return
    sure = how == "summed again"
    yield ScaledByRanks(
        site=site or first.step,
        subjects=(Parameter(0, first.network, first.network),),
        chain=(
            Step.at(first.loss, "the gradient of each rank"),
            Step.at(site or first.step, "off by the number of ranks", Mark.HERE),
        ),
        severity=Severity.ERROR if sure else Severity.WARNING,
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
        optimizer=first.optimizer,
        first_update=number,
        how=how,
        ranks=len(ranks),
    )


def _scaled(ranks: _Ranks) -> tuple[How | None, Site | None] | None:
    """How gradients became what is stepped with; nothing if that cannot be told."""
    traces, world = list(ranks.values()), len(ranks)
    before = [t.before for t in traces if t.before is not None]
    after = [t.after for t in traces if t.after is not None]
    total = fsum(before)
    if len(before) < world or len(after) < world or not _alike(after):
        return None
    if abs(total) <= _LEFT * fsum(map(abs, before)):
        return None
    share, one = after[0] / total, traces[0]
    averaged = _alike(before)
    if isclose(share, 1, rel_tol=_CLOSE):
        if averaged and one.wrapped:
            return "summed again", one.written
        plain = not averaged and all(t.loss == one.loss and t.mean * world > 1 + _CLOSE for t in traces)
        same = all(t.unreached == one.unreached and not t.shared for t in traces)
        return ("summed" if plain and same and one.written is not None else None), one.written
    if isclose(share, 1 / world**2, rel_tol=_CLOSE) and averaged and one.wrapped:
        return ("divided again" if one.divided is not None else None), one.divided
    if isclose(share, 1 / world, rel_tol=_CLOSE) and averaged and one.wrapped:
        divided = one.shared is not None and isclose(one.share * world, 1)
        return ("loss divided" if divided else None), one.shared
    return None


def _alike(values: Sequence[float]) -> bool:
    return all(isclose(value, values[0], rel_tol=_CLOSE) for value in values)


def unused_on_ranks(updates: Mapping[int, _Ranks]) -> Iterator[UnusedOnRanks]:
    """Parameters that the same ranks leave out every time, and all the others train."""
    if len(updates) < _LEAST:
        return
    left: dict[str, set[frozenset[int]]] = {}
    names = {name for ranks in updates.values() for trace in ranks.values() for name in trace.unreached}
    for ranks in updates.values():
        for name in names:
            without = frozenset(rank for rank, trace in ranks.items() if name in trace.unreached)
            left.setdefault(name, set()).add(without)
    together: dict[frozenset[int], list[str]] = {}
    number = min(updates)
    for name in sorted(names):
        (without, *others) = left[name]
        if not others and 0 < len(without) < len(updates[number]):
            together.setdefault(without, []).append(name)
    for without, members in together.items():
        first = updates[number][min(without)]
        yield UnusedOnRanks(
            site=first.loss or first.step,
            subjects=tuple(Parameter(n, name, first.network) for n, name in enumerate(members)),
            chain=(Step(members[0]), Step.at(first.loss, "not in this loss", Mark.HERE)),
            severity=Severity.WARNING,
            confidence=Confidence.LIKELY,
            optimizer=first.optimizer,
            first_update=number,
            without=tuple(sorted(without)),
            ranks=len(updates[number]),
        )
