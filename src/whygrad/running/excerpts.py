"""The lines of source that a report shows, taken while the files are still those that ran."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.model import Excerpt, Run, Site, source

_AROUND = 6
_MOST = 3000  # lines in all


def excerpts(run: Run) -> tuple[Excerpt, ...]:
    """The surroundings of every place that the run speaks of; places near each other share one."""
    wanted: dict[str, set[int]] = {}
    for site in _sites(run):
        wanted.setdefault(site.file, set()).update(range(site.line - _AROUND, site.line + _AROUND + 1))
    left, found = _MOST, []
    for file, numbers in wanted.items():
        lines = source.lines(file)
        for first, last in _stretches(sorted(n for n in numbers if 0 < n <= len(lines))):
            if last - first < left:
                found.append(Excerpt(file, first, tuple(line.rstrip() for line in lines[first - 1 : last])))
                left -= last - first + 1
    return tuple(found)


def _sites(run: Run) -> Iterator[Site]:
    """The culprits first: if there are too many lines, they are the ones to keep."""
    yield from (f.site for f in run.findings if f.site)
    yield from (step.site for f in run.findings for step in f.chain if step.site)
    if run.exception is not None and run.exception.site is not None:
        yield run.exception.site
    for wire in run.drawing.wires:
        if wire.cut is not None and wire.cut.site is not None:
            yield wire.cut.site
    yield from (loss.site for loss in run.drawing.losses if loss.site)


def _stretches(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers as (first, last)."""
    for n, number in enumerate(numbers):
        if n == 0 or number > numbers[n - 1] + 1:
            first = number
        if n + 1 == len(numbers) or numbers[n + 1] > number + 1:
            yield first, number
