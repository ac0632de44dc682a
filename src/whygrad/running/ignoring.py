"""Findings that the user does not want to hear of: taken out of the findings, counted, never dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from whygrad.model import Finding, Note, Run, Site, source
from whygrad.model.choice import Choice, Ignored

_COMMENT = re.compile(r"#\s*whygrad:\s*ignore\[([\w\s,-]*)\]")


def ignoring(run: Run, choice: Choice) -> Run:
    """The run without them, and with notes: what was ignored, and which comments ignore nothing."""
    kept, ignored = [], []
    for finding in run.findings:
        by = choice.against(finding.rule) or _commented(finding)
        if by:
            ignored.append(Ignored(finding.rule, finding.title, finding.site, by))
        else:
            kept.append(finding)
    notes = [*_told(ignored), *map(Note, choice.trouble), *_idle(run, ignored)]
    if not ignored and not notes:
        return run
    return replace(run, findings=tuple(kept), ignored=tuple(ignored), notes=(*notes, *run.notes))


def _commented(finding: Finding) -> str:
    """Does the finding's own line say so?"""
    if finding.site is None:
        return ""
    return "comment" if finding.rule in _named(source.line(finding.site.file, finding.site.line)) else ""


def _named(line: str) -> list[str]:
    """The rules that a line's comment names."""
    found = _COMMENT.search(line)
    return [word for word in re.split(r"[\s,]+", found[1]) if word] if found else []


def _told(ignored: list[Ignored]) -> Iterator[Note]:
    if ignored:
        each = "; ".join(f"{i.rule}{f' at {_brief(i.site)}' if i.site else ''} ({i.by})" for i in ignored)
        many = "1 finding is" if len(ignored) == 1 else f"{len(ignored)} findings are"
        yield Note(f"{many} ignored: {each}")


def _brief(site: Site) -> str:
    return f"line {site.line}"


def _idle(run: Run, ignored: list[Ignored]) -> Iterator[Note]:
    """Comments that ignore nothing in this run."""
    used = {(i.site.file, i.site.line, i.rule) for i in ignored if i.site is not None and i.by == "comment"}
    for file in dict.fromkeys(_files(run)):
        for number, line in enumerate(source.lines(file), 1):
            for rule in _named(line) if "whygrad:" in line else ():
                if (file, number, rule) not in used:
                    told = f"the comment ignore[{rule}] in line {number} ignores nothing"
                    yield Note(f"{told}: there is no such finding", Site.read(file, number))


def _files(run: Run) -> Iterable[str]:
    """The files that the run speaks of."""
    yield from (f.site.file for f in run.findings if f.site)
    for update in run.updates:
        yield from (site.file for site in (update.loss, update.made) if site)
    if run.exception is not None and run.exception.site is not None:
        yield run.exception.site.file
