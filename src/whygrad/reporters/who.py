"""Who trains whom, as rows and columns: every term once, every network that a loss reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from whygrad.model import GradientMap, LossTerm, Reached, Site


@dataclass(slots=True)
class Row:
    """One term of a loss, over all optimizers that step on it."""

    name: str
    site: Site | None
    _meant: list[str] = field(default_factory=list)  # optimizers that were to step on it
    cells: dict[str, Reached] = field(default_factory=dict)

    @property
    def optimizers(self) -> tuple[str, ...]:
        """Those whose steps use it; those that were meant to, where nobody does."""
        applied = [name for cell in self.cells.values() for name in cell.applied]
        return tuple(dict.fromkeys(applied or self._meant))

    def add(self, found: GradientMap, term: LossTerm) -> None:
        """The same term, seen under another optimizer."""
        self._meant.append(found.optimizer)
        for cell in term.networks:
            known = self.cells.get(cell.network)
            self.cells[cell.network] = cell if known is None else _both(known, cell)


def rows(maps: Sequence[GradientMap]) -> list[Row]:
    """Every term once: a loss that several optimizers step on is one loss, and so is one of a loop."""
    found: dict[object, Row] = {}
    for one in maps:
        same: Counter[object] = Counter()
        for term in one.terms:
            written = (term.name, term.site)
            same[written] += 1
            row = found.setdefault((written, same[written]), Row(term.name, term.site))
            row.add(one, term)
    return list(found.values())


def columns(shown: Sequence[Row]) -> list[str]:
    """Every network of these rows."""
    return list(dict.fromkeys(network for row in shown for network in row.cells))


def share(cell: Reached) -> str:
    """The part of a network's gradient that comes from here, in words of a table."""
    if cell.share is None:
        return "yes"
    percent = 100 * cell.share
    return f"{percent:.0f} %" if percent >= 0.5 or not percent else "<1 %"


def _both(one: Reached, other: Reached) -> Reached:
    """What two optimizers have to say of one cell: the newest share of those that apply it."""
    applied = tuple(dict.fromkeys((*one.applied, *other.applied)))
    shares = [c.share for c in (other, one) if c.reached and c.share is not None]
    return Reached(one.network, one.reached or other.reached, next(iter(shares), None), applied)
