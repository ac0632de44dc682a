"""Places in source files, for people: short paths, and the lines around a site."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from whygrad.model import Finding, Site, source
from whygrad.rules.rewrite import uncommented


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


START = _here()  # a script may change the directory; paths are shown from where whygrad was started
#: In a notebook: the numbers of its cells, by the files that they were made into.
cells: dict[str, int] = {}
_LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an excerpt; ``mark`` is the part of it to underline, as (start, length)."""

    number: int
    text: str
    culprit: bool = False
    mark: tuple[int, int] | None = None


def below(path: str) -> str:
    """The path from the starting directory if it lies below that, else as it is."""
    inside = os.path.isabs(path) and path.startswith(START.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, START) if inside else path


def short(path: str) -> str:
    """The path from the starting directory where that is shorter; a library's file from its package."""
    package = _LIBRARY.split(path)[-1]
    if package != path:
        return package
    if not os.path.isabs(path):
        return path
    try:
        relative = os.path.relpath(path, START)
    except ValueError:  # another drive
        return path
    return relative if len(relative) < len(path) else path


def label(site: Site) -> str:
    """``train.py:41``, or ``cell 7, line 3``."""
    if site.file in cells:
        return f"cell {cells[site.file]}, line {site.line}"
    return f"{short(site.file)}:{site.line}"


def beside(site: Site | None, here: Site | None) -> str:
    """``line 41`` in the file that the reader looks at, the full label elsewhere, empty for no place."""
    if site is None:
        return ""
    return f"line {site.line}" if here and here.file == site.file else label(site)


def clipped(text: str, width: int) -> str:
    """A line of source within the width: its comment goes first."""
    if len(text) > width:
        text = text[: len(text) - len(text.lstrip())] + uncommented(text.strip())
    return text if len(text) <= width else text[: max(width - 3, 1)] + "..."


def excerpt(finding: Finding, context: int = 1) -> list[Line]:
    """The culprit line and its neighbours, without their common indentation; empty without a source."""
    site = finding.site
    if site is None:
        return []
    lines = {n: _read(site, n) for n in range(max(site.line - context, 1), site.line + context + 1)}
    lines = {n: text for n, text in lines.items() if text.strip()}
    if site.line not in lines:
        return []
    indent = min(len(text) - len(text.lstrip()) for text in lines.values())
    shown = {n: text[indent:].rstrip() for n, text in lines.items()}
    return [Line(n, text, n == site.line, _mark(finding, text, n)) for n, text in shown.items()]


def _read(site: Site, number: int) -> str:
    text = source.line(site.file, number).expandtabs(4)
    if number == site.line and (not text.strip() or (site.code and text.strip() != site.code.strip())):
        return site.code
    return text


def _mark(finding: Finding, text: str, number: int) -> tuple[int, int] | None:
    """Where the cut stands in the culprit line: the words of the chain's cut, or the operation in them."""
    if finding.site is None or number != finding.site.line:
        return None
    for what in (step.what for step in finding.chain if step.mark and step.what):
        for pattern in _patterns(what):
            found = re.search(pattern, text)
            if found and found[0].strip() != text.strip():
                return found.start(), len(found[0])
    return None


def _patterns(what: str) -> tuple[str, ...]:
    name = re.split(r"[.(]", what.rstrip("()").lstrip("."))[-1]
    if not name.isidentifier():  # a whole line that ends in a number, say
        return (re.escape(what),)
    return rf"\.?\b{name}\([^()]*\)", re.escape(what), rf"\.?\b{name}\b"
