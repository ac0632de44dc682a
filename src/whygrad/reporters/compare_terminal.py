"""Two runs side by side on a terminal."""

from __future__ import annotations

from whygrad.model import Run, Severity
from whygrad.reporters import places
from whygrad.reporters.comparing import FACTOR, Comparison, Difference, Pair
from whygrad.reporters.style import Style, fit
from whygrad.reporters.summary import brief
from whygrad.rules.words import count, listed

_MOST = 20


def verdict(run: Run) -> str:
    """In a few words."""
    found = run.at(Severity.ERROR, Severity.WARNING)
    if not found:
        return brief(run)
    rules = dict.fromkeys(f"{f.rule}{f' ({places.label(f.site)})' if f.site else ''}" for f in found)
    return listed(list(rules)[:3])


def sentence(comparison: Comparison) -> str:
    """Which variable differs first."""
    first = comparison.earliest
    one, other = (side.name for side in comparison.sides)
    if not comparison.pairs:
        return "no variable of the one run could be matched with one of the other"
    if first is None or first.difference is None:
        return f"no gradient differs by more than a factor of {FACTOR:g}"
    there = first.difference
    when = f"at update {there.update:,}" if comparison.over_time else "in the last recorded update"
    called = first.first if first.first == first.second else f"{first.first} ({first.second} there)"
    return f"{called} differs first, {when}: {size(there.first)} in {one}, {size(there.second)} in {other}"


def size(value: float | None) -> str:
    """A gradient, or that there is none."""
    return "no gradient" if value is None else f"{value:.3g}"


def render(comparison: Comparison, color: bool, width: int) -> str:
    """Verdicts, the sentence, and the variables in the order in which they part."""
    style = Style(color)
    lines = []
    for side in comparison.sides:
        updates = count(sum(u.count for u in side.run.updates), "update")
        lines.append(f"{style.paint('bold', side.name)}: {verdict(side.run)} ({updates})")
    lines += ["", style.paint("bold", sentence(comparison)), ""]
    shown = [pair for pair in comparison.pairs if pair.difference][:_MOST]
    if shown:
        lines += _table(comparison, shown, style, width)
    same = sum(pair.difference is None for pair in comparison.pairs)
    if same:
        lines.append(f"{count(same, 'variable')} alike (within a factor of {FACTOR:g})")
    for side, names in zip(comparison.sides, comparison.alone, strict=True):
        if names:
            lines.append(f"only in {side.name}: {fit(listed(names), width - 12 - len(side.name))}")
    if not comparison.over_time:
        lines.append(style.paint("dim", "run both with --watch to see from which update on they differ"))
    return "\n".join(lines) + "\n"


def _table(comparison: Comparison, shown: list[Pair], style: Style, width: int) -> list[str]:
    heads = [fit(side.name, 24) for side in comparison.sides]
    name = min(max(len(pair.first) for pair in shown), max(width - 60, 24))
    head = f"{'variable':<{name}}  {'update':>8}  {heads[0]:>24}  {heads[1]:>24}"
    rows = [_row(pair.first, pair.difference, name) for pair in shown if pair.difference]
    return [style.paint("dim", head), *rows]


def _row(variable: str, there: Difference, name: int) -> str:
    sizes = "  ".join(f"{size(value):>24}" for value in (there.first, there.second))
    return f"{fit(variable, name):<{name}}  {there.update:>8,}  {sizes}"
