"""Who trains whom, as a small table: terms of the losses against networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from whygrad.model import GradientMap, Reached
from whygrad.reporters.style import Style, fit
from whygrad.reporters.who import Row, columns, rows, share

_MOST_ROWS = 24
_NAMES = (34, 28, 24)  # how long a term may be
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
    tables = [_table(kept, columns(shown), _labels(kept, most), style, width) for most in _NAMES]
    found = min(tables, key=len)  # names are shortened where that saves a second block
    if hidden > 0:
        found.append(style.paint("dim", f"... and {hidden} more terms, in the report"))
    return found + _legend(kept, maps, style)


def _table(
    kept: Sequence[Row], networks: Sequence[str], labels: Sequence[tuple[str, str]], style: Style, width: int
) -> list[str]:
    """All networks, in as many blocks as it takes."""
    sizes = max(map(len, [*(name for name, _ in labels), _TITLE])), max(len(by) for _, by in labels)
    found: list[str] = []
    for block in _blocks(networks, width - sum(sizes) - 2):
        found += _block(kept, labels, block, sizes, style, not found)
    return found


def _labels(shown: Sequence[Row], most: int) -> list[tuple[str, str]]:
    """A label for each row; names that begin alike are shortened in their middle."""
    labels = [_label(row, fit, most) for row in shown]
    many = Counter(name for name, _ in labels)
    return [_label(r, _ends, most) if many[at[0]] > 1 else at for r, at in zip(shown, labels, strict=True)]


def _end(text: str, width: int) -> str:
    return text if len(text) <= width else f"...{text[3 - width :]}"


def _ends(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width // 3]}...{text[3 - width + width // 3 :]}"


def _label(row: Row, shortened: Callable[[str, int], str], most: int) -> tuple[str, str]:
    """The term with its line, and whose step uses it."""
    name, number, nth = row.name.rpartition(" #")
    name, nth = (name, number + nth) if number and nth.isdigit() else (row.name, "")
    end = nth + (f" :{row.site.line}" if row.site else "")
    return shortened(name, most - len(end)) + end, _end(", ".join(row.optimizers), _OPTIMIZER)


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


def _block(
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
