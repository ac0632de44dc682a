"""The chain from parameter to loss, made short enough to be read and ready to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whygrad.model import Mark, Site, Step
from whygrad.rules.rewrite import uncommented

MOST = 9


@dataclass(frozen=True, slots=True)
class Link:
    """One row of the picture.

    ``starved`` rows get no gradient: they lie between the parameter and the cut. ``hidden`` is the number of
    steps that a row stands for, where it stands for several.
    """

    what: str
    site: Site | None = None
    mark: Mark = Mark.NONE
    starved: bool = False
    hidden: int = 0


def links(steps: Sequence[Step], most: int = MOST) -> list[Link]:
    """The rows of the picture, parameter first; ends and marks always stay."""
    steps = _merged(steps)
    cuts = [n for n, step in enumerate(steps) if step.cut]
    last_cut = cuts[-1] if cuts else -1
    if last_cut == len(steps) - 1 > 1:
        last_cut = -1  # at the very end: the gradient arrives, and nobody applies it
    rows = [Link(s.what, s.site, s.mark, n < last_cut and not s.mark) for n, s in enumerate(steps)]
    return rows if len(rows) <= most else _shortened(rows, most)


def _merged(steps: Sequence[Step]) -> list[Step]:
    """The steps without immediate repetitions (a loop, a recurrent cell)."""
    kept: list[Step] = []
    for step in steps:
        step = replace(step, what=_words(step))
        if kept and step.mark and _is_whole_line(kept[-1]) and _same_line(step, kept[-1]):
            kept.pop()  # the mark says what matters of this line
        if not kept or step != kept[-1]:
            kept.append(step)
    return kept


def _words(step: Step) -> str:
    """The step in the user's words: a bare operation that the line does not name becomes the line."""
    code = step.site.code if step.site else ""
    if code and step.what.isidentifier() and step.what not in code:
        return uncommented(code)
    return uncommented(step.what)


def _is_whole_line(step: Step) -> bool:
    return step.site is not None and step.what == uncommented(step.site.code)


def _same_line(one: Step, other: Step) -> bool:
    return (one.site and (one.site.file, one.site.line)) == (
        other.site and (other.site.file, other.site.line)
    )


def _shortened(rows: list[Link], most: int) -> list[Link]:
    """The ends and the neighbourhood of each mark; a gap row for what lies between."""
    wanted = {0, 1, len(rows) - 2, len(rows) - 1}
    for n, row in enumerate(rows):
        if row.mark:
            wanted |= {n - 1, n, n + 1}
    for n in range(len(rows)):  # fill up from the parameter's side
        if len(wanted) >= most - 1:
            break
        wanted.add(n)
    shown: list[Link] = []
    for n, row in enumerate(rows):
        if n in wanted:
            shown.append(row)
        elif shown and shown[-1].hidden:
            shown[-1] = Link("", starved=row.starved, hidden=shown[-1].hidden + 1)
        else:
            shown.append(Link("", starved=row.starved, hidden=1))
    return shown
