"""Who trains whom, as a small table: terms of the losses against networks."""

from __future__ import annotations

from collections.abc import Sequence

from whygrad.model import GradientMap, LossTerm, Reached
from whygrad.reporters.style import Style, fit

_MOST_ROWS = 12
_MOST_COLUMNS = 6
_NAME = 34


def lines(maps: Sequence[GradientMap], style: Style, width: int) -> list[str]:
    """The table; nothing where it would only say that one loss trains one network."""
    rows = [(found, term) for found in maps for term in found.terms][:_MOST_ROWS]
    columns = list(dict.fromkeys(c.network for _, term in rows for c in term.networks))
    columns = columns[:_MOST_COLUMNS]
    if len(rows) < 2:
        return []
    names = [_name(term) for _, term in rows]
    first = max(map(len, [*names, "who trains whom"]))
    stepping = max(len(found.optimizer) for found, _ in rows)
    widths = [max(len(column), 5) for column in columns]
    while widths and first + stepping + sum(widths) + 2 * len(widths) + 4 > width:
        columns, widths = columns[:-1], widths[:-1]
    head = "who trains whom".ljust(first + stepping + 2)
    shown = [style.paint("bold", head) + "".join(f"  {c:>{w}}" for c, w in zip(columns, widths, strict=True))]
    for name, (found, term) in zip(names, rows, strict=True):
        cells = {cell.network: cell for cell in term.networks}
        marks = "".join(f"  {_cell(cells.get(c)):>{w}}" for c, w in zip(columns, widths, strict=True))
        shown.append(f"{name:<{first}}  {style.paint('dim', found.optimizer.ljust(stepping))}{marks}")
    reasons = dict.fromkeys(found.unmeasured for found in maps if found.unmeasured)
    shown += [style.paint("dim", f"shares were not measured: {reason}") for reason in reasons]
    return shown


def _name(term: LossTerm) -> str:
    line = f" :{term.site.line}" if term.site else ""
    return fit(term.name, _NAME - len(line)) + line


def _cell(cell: Reached | None) -> str:
    """The share; a dot where the gradient passes without being applied, a dash where none arrives."""
    if cell is None or not cell.reached:
        return "-"
    if not cell.applied:
        return "·"
    return "yes" if cell.share is None else f"{100 * cell.share:.0f} %"
