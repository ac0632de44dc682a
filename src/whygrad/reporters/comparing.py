"""Two runs side by side: which variable is which, and whose gradient differs first."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from whygrad.model import Run, Series

FACTOR = 10.0  # other seeds and batches change a norm by less, but for moments
LASTING = 5  # summaries in a row that differ: a moment is chance
_NORM, _ABSENT = "gradients/norm", "gradients/absent"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: the run and its summaries over time, if there are any."""

    name: str
    run: Run
    series: Sequence[Series] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two gradients part: the update, and how large each is there; none: it is absent."""

    update: int
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """A variable of the one run and the same of the other."""

    first: str
    second: str
    norms: tuple[Series | None, Series | None] = (None, None)
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs, those that differ first on top; and what has no partner."""

    sides: tuple[Side, Side]
    pairs: tuple[Pair, ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]
    over_time: bool

    @property
    def earliest(self) -> Pair | None:
        """The pair whose gradients part first."""
        return self.pairs[0] if self.pairs and self.pairs[0].difference else None


def compare(one: Side, other: Side) -> Comparison:
    """Variables are the same if they are called the same, or stand at the same place of the same role."""
    names = (_variables(one), _variables(other))
    matched = _matched(one.run, other.run, names)
    over_time = bool(one.series) and bool(other.series)
    found = [
        _over_time(one, other, a, b) if over_time else _at_the_end(one.run, other.run, a, b)
        for a, b in matched
    ]
    last = float("inf")
    found.sort(key=lambda pair: pair.difference.update if pair.difference else last)
    alone = tuple(
        tuple(name for name in names[n] if name not in {pair[n] for pair in matched}) for n in (0, 1)
    )
    return Comparison((one, other), tuple(found), (alone[0], alone[1]), over_time)


def _variables(side: Side) -> list[str]:
    summarized = dict.fromkeys(s.variable for s in side.series if s.variable)
    return list(summarized or _weights(side.run))


def _weights(run: Run) -> dict[str, float | None]:
    return {w.name: w.gradient for la in run.drawing.layers for w in la.weights if w.optimizers or w.seen}


def _matched(one: Run, other: Run, names: tuple[list[str], list[str]]) -> list[tuple[str, str]]:
    same = [name for name in names[0] if name in set(names[1])]
    left = ([n for n in names[0] if n not in same], [n for n in names[1] if n not in same])
    found = [(name, name) for name in same]
    groups = (_by_network(one, left[0]), _by_network(other, left[1]))
    for network, members in groups[0].items():
        partner = _partner(network, one, other, groups, len(members))
        if partner is not None:
            found += list(zip(members, groups[1].pop(partner), strict=True))
    return found


def _by_network(run: Run, names: Sequence[str]) -> dict[str, list[str]]:
    owner = {w.name: layer.network for layer in run.drawing.layers for w in layer.weights}
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(owner.get(name, name.rpartition(".")[0]), []).append(name)
    return found


def _partner(
    network: str, one: Run, other: Run, groups: tuple[dict[str, list[str]], dict[str, list[str]]], many: int
) -> str | None:
    """The network of the other run with the same role and as many variables; else the only one that fits."""
    roles = ({r.network: r.role for r in one.roles}, {r.network: r.role for r in other.roles})
    fitting = [name for name, members in groups[1].items() if len(members) == many]
    alike = [n for n in fitting if n in roles[1] and roles[1][n] == roles[0].get(network)]
    if len(alike) == 1:
        return alike[0]
    return fitting[0] if len(fitting) == 1 else None


def _over_time(one: Side, other: Side, a: str, b: str) -> Pair:
    norms = (_find(one.series, a, _NORM), _find(other.series, b, _NORM))
    if norms[0] is None or norms[1] is None:
        return Pair(a, b, norms)
    absent = (_find(one.series, a, _ABSENT), _find(other.series, b, _ABSENT))
    row: list[Difference] = []
    for n, step in enumerate(norms[0].steps):
        m = bisect_left(norms[1].steps, step)
        if m == len(norms[1].steps):
            break
        values = (_value(norms[0], absent[0], n), _value(norms[1], absent[1], m))
        row = [*row, Difference(step, *values)] if _differ(*values) else []
        if len(row) == LASTING:
            return Pair(a, b, norms, row[0])
    return Pair(a, b, norms, row[0] if row and len(row) == len(norms[0].steps) else None)


def _find(series: Sequence[Series], variable: str, quantity: str) -> Series | None:
    return next((s for s in series if s.variable == variable and s.quantity == quantity), None)


def _value(norm: Series, absent: Series | None, at: int) -> float | None:
    value = norm.mean[at]
    gone = absent is not None and at < len(absent.mean) and absent.mean[at] >= 1
    return None if gone or value != value else value


def _at_the_end(one: Run, other: Run, a: str, b: str) -> Pair:
    """Without summaries: the largest element in the last recorded update."""
    values = (_weights(one).get(a), _weights(other).get(b))
    last = max((u.count for u in one.updates), default=0)
    return Pair(a, b, (None, None), Difference(last, *values) if _differ(*values) else None)


def _differ(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is not other
    small, large = sorted((abs(one), abs(other)))
    return large > FACTOR * small
