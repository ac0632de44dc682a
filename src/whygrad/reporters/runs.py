"""The list of past runs, for the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from whygrad import strangers
from whygrad.model import Run, Severity, Site, Verdict
from whygrad.reporters import places
from whygrad.reporters.style import Style, fit
from whygrad.reporters.summary import brief
from whygrad.rules.words import count, listed

_HEAD = ("when", "script", "ended", "updates", "verdict", "folder")
_LEAST = (11, 12, 7, 7, 24, 6)  # what a column keeps when the terminal is narrow
_BAD = frozenset(("killed", "damaged"))


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run directory: what its report says, or why it cannot be read."""

    folder: Path
    started: datetime
    ended: str  # finished | interrupted | killed | still running | exit code N | the type of an exception
    run: Run | None = None
    trouble: str = ""

    @property
    def updates(self) -> int:
        """How many steps all its optimizers made."""
        return sum(update.count for update in self.run.updates) if self.run else 0


def render(found: Sequence[PastRun], color: bool = False, width: int = 100) -> str:
    """One line per run, in columns; a folder is never shortened: it is there to be pasted."""
    style = Style(color)
    rows = [_HEAD, *(_row(past) for past in found)]
    widths = _fitted([max(len(row[n]) for row in rows) for n in range(len(_HEAD))], width)
    lines = [_line(_HEAD, widths, ("dim",) * len(_HEAD), style)]
    lines += [_line(row, widths, _roles(past), style) for row, past in zip(rows[1:], found, strict=True)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def verdict(run: Run) -> str:
    """What was found, in a few words."""
    return _found(run) if not run.clean else brief(run)


def _found(run: Run) -> str:
    numbers = [(len(run.at(s)), str(s)) for s in (Severity.ERROR, Severity.WARNING)]
    first = run.findings[0]
    where = f", {places.beside(first.site, Site(run.script, 0))}" if first.site else ""
    return f"{listed([count(n, word) for n, word in numbers if n])}: {first.rule}{where}"


def _row(past: PastRun) -> tuple[str, ...]:
    now = datetime.now().astimezone()
    when = f"{past.started:%m-%d %H:%M}" if past.started.year == now.year else f"{past.started:%Y-%m-%d}"
    if past.run is None:
        return when, "", past.ended, "", "report.json cannot be read", strangers.line(past.folder)
    script = strangers.line(shlex.join([places.short(past.run.script), *past.run.argv]))
    return when, script, past.ended, f"{past.updates:,}", verdict(past.run), strangers.line(past.folder)


def _roles(past: PastRun) -> tuple[str, ...]:
    ended = "error" if past.ended in _BAD else "good" if past.ended == "still running" else ""
    judged = ""
    if past.run is not None and past.updates:
        grave = "error" if past.run.at(Severity.ERROR) else "warning"
        judged = "good" if past.run.verdict is Verdict.HEALTHY else grave
    return "dim", "", ended, "", judged, "code"


def _fitted(widths: list[int], room: int) -> list[int]:
    """The script's column gives way first, then the verdict's; the last one goes to the end of the line."""
    over = sum(widths) + 2 * (len(widths) - 1) - room
    for n in (1, 4):
        if over > 0:
            less = min(over, max(0, widths[n] - _LEAST[n]))
            widths[n] -= less
            over -= less
    return widths


def _line(row: Sequence[str], widths: Sequence[int], roles: Sequence[str], style: Style) -> str:
    cells = []
    for n, (text, width, role) in enumerate(zip(row, widths, roles, strict=True)):
        last = n == len(row) - 1
        shown = text if last else fit(text, width)
        space = "" if last else " " * (width - len(shown))
        painted = style.paint(role, shown) if role else shown
        cells.append(space + painted if _HEAD[n] == "updates" else painted + space)
    return "  ".join(cells)
