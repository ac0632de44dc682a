"""Ranks that train one model: are their weights and the gradients that they step with the same?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whygrad.model import Confidence, Mark, Parameter, Severity, Site, Step, Trace
from whygrad.rules.cause import Cause
from whygrad.rules.ranks.judge_shares import scaled_by_ranks, unused_on_ranks
from whygrad.rules.ranks.ranks_diverge import RanksDiverge, Since

_SAME = 1e-6  # of the larger one: norms of the same numbers, on machines of different kinds
_LATER = 2  # updates after which weights that are still apart are not brought together again
_Ranks = Mapping[int, Trace]  # rank -> what it had in one update


def judged(ranks: Mapping[int, tuple[Trace, ...]]) -> Iterator[Cause]:
    """For each network that all of them train under the same optimizer."""
    for updates in _common(ranks):
        cause = _judged(updates)
        if cause is not None:
            yield cause
        elif all(_same(t.weights for t in found.values()) for found in updates.values()):
            yield from scaled_by_ranks(updates)
            yield from unused_on_ranks(updates)


def _common(ranks: Mapping[int, tuple[Trace, ...]]) -> Iterator[Mapping[int, _Ranks]]:
    """The updates that all ranks have of a network, in order."""
    if len(ranks) < 2:
        return
    networks: dict[tuple[int, str], dict[int, dict[int, Trace]]] = {}
    for rank, traces in ranks.items():
        for trace in traces:
            networks.setdefault((trace.nth, trace.network), {}).setdefault(trace.update, {})[rank] = trace
    for updates in networks.values():
        common: dict[int, _Ranks] = {
            number: found for number, found in sorted(updates.items()) if len(found) == len(ranks)
        }
        if common:
            yield common


def _judged(updates: Mapping[int, _Ranks]) -> RanksDiverge | None:
    numbers = list(updates)
    apart = [n for n in numbers if not _same(t.weights for t in updates[n].values())]
    own = [n for n in numbers if not _same(t.gradient for t in updates[n].values())]
    if not apart:
        return None
    if apart[0] == numbers[0]:
        shared = len(numbers) >= _LATER and not own and any(t.gradient for t in updates[numbers[0]].values())
        return _cause(updates, numbers[0], "start") if shared else None
    if own and own[0] < apart[0]:
        later = [n for n in numbers if n > own[0]]
        return (
            _cause(updates, own[0], "reduced") if len(later) >= _LATER and set(later) <= set(apart) else None
        )
    before = apart[0] - 1
    return _cause(updates, before, "step") if before in updates and own[:1] != [before] else None


def _same(values: Iterator[float]) -> bool:
    found = list(values)
    return max(found) - min(found) <= _SAME * max(map(abs, found))


def _cause(updates: Mapping[int, _Ranks], number: int, since: Since) -> RanksDiverge:
    first = updates[number][min(updates[number])]
    named = (first.around or first.unsynced or first.inner) if since == "reduced" else None
    site: Site | None = named or (first.step if since == "step" else first.loss or first.step)
    likely = since == "reduced" and named is None
    return RanksDiverge(
        site=site,
        subjects=(Parameter(0, first.network, first.network),),
        chain=(
            Step.at(first.loss, "the loss of each rank", Mark.HERE if site == first.loss else Mark.NONE),
            Step.at(named, "not reduced", Mark.HERE)
            if named is not None
            else Step("weights differ afterwards"),
        ),
        severity=Severity.WARNING if likely else Severity.ERROR,
        confidence=Confidence.LIKELY if likely or named is first.inner else Confidence.CERTAIN,
        optimizer=first.optimizer,
        first_update=number,
        since=since,
        how="around" if first.around else "unsynced" if first.unsynced else "inner" if first.inner else "",
        ranks=len(updates[number]),
    )
