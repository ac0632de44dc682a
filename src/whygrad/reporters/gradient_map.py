"""Who trains whom, as a small table: terms of the losses against networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whygrad.model import GradientMap, Reached
from whygrad.reporters.style import Style, fit
from whygrad.reporters.who import Row, columns, rows, share

_MOST_ROWS = 24
_NAME = 34
_OPTIMIZER = 24
_TITLE = "who trains whom"


def lines(maps: Sequence[GradientMap], style: Style, width: int) -> list[str]:
    """The table; nothing where it would only say that one loss trains one network.

    No network is left out: what does not fit beside the others stands below them.
    """
    shown = rows(maps)
    if len(shown) < 2:
        return []
    kept, hidden = shown[:_MOST_ROWS], len(shown) - _MOST_ROWS
    labels = [_label(row) for row in kept]
    first = max(map(len, [*(name for name, _ in labels), _TITLE]))
    stepping = max(len(by) for _, by in labels)
    found: list[str] = []
    for block in _blocks(columns(shown), width - first - stepping - 2):
        found += _table(kept, labels, block, (first, stepping), style, not found)
    if hidden > 0:
        found.append(style.paint("dim", f"... and {hidden} more terms, in the report"))
    return found + _legend(kept, maps, style)


def _label(row: Row) -> tuple[str, str]:
    """The term with its line, and whose step uses it."""
    name, number, nth = row.name.rpartition(" #")
    name, nth = (name, number + nth) if number and nth.isdigit() else (row.name, "")
    end = nth + (f" :{row.site.line}" if row.site else "")
    return fit(name, _NAME - len(end)) + end, fit(", ".join(row.optimizers), _OPTIMIZER)


def _blocks(names: Sequence[str], room: int) -> Iterator[list[str]]:
    """As many columns as fit beside each other, and then the next ones."""
    block: list[str] = []
    for name in names:
        if block and sum(_wide(n) + 2 for n in [*block, name]) > room:
            yield block
            block = []
        block.append(name)
    yield block


def _wide(name: str) -> int:
    return max(len(name), 5)


def _table(
    kept: Sequence[Row],
    labels: Sequence[tuple[str, str]],
    block: Sequence[str],
    sizes: tuple[int, int],
    style: Style,
    first: bool,
) -> list[str]:
    """One block; below the first one, only the rows that have something to say."""
    head = (_TITLE if first else "").ljust(sum(sizes) + 2)
    shown = [style.paint("bold", head) + "".join(f"  {name:>{_wide(name)}}" for name in block)]
    for row, (name, by) in zip(kept, labels, strict=True):
        if not first and not any(name in row.cells and row.cells[name].reached for name in block):
            continue
        marks = "".join(f"  {_cell(row.cells.get(column)):>{_wide(column)}}" for column in block)
        shown.append(f"{name:<{sizes[0]}}  {style.paint('dim', by.ljust(sizes[1]))}{marks}")
    return shown if len(shown) > 1 else [*shown, style.paint("dim", "no term reaches any of these")]


def _legend(kept: Sequence[Row], maps: Sequence[GradientMap], style: Style) -> list[str]:
    """What the marks mean, where they are there to be understood."""
    said = []
    cells = [cell for row in kept for cell in row.cells.values() if cell.reached]
    if any(not cell.applied for cell in cells):
        said.append("· gradient arrives, and no step uses it")
    reasons = dict.fromkeys(found.unmeasured for found in maps if found.unmeasured)
    said += [f"shares were not measured: {reason}" for reason in reasons if reason != "not measured"]
    return [style.paint("dim", text) for text in said]


def _cell(cell: Reached | None) -> str:
    """The share; a dot where the gradient passes without being applied, a dash where none arrives."""
    if cell is None or not cell.reached:
        return "-"
    return share(cell) if cell.applied else "·"
