"""Files and lines as other programs want them: relative to a root, with columns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from whygrad.model import Finding, Site, source
from whygrad.reporters import places


@dataclass(frozen=True, slots=True)
class Region:
    """A part of one line; columns count from 1, and ``end`` is the one behind it."""

    line: int
    start: int
    end: int
    text: str


def absolute(file: str) -> str:
    """The full path of a file that a site names; empty for ``<string>`` and its like."""
    if not file or file.startswith("<"):
        return ""
    return os.path.normpath(os.path.join(places.START, file))


def inside(file: str, root: str) -> str:
    """The path from ``root``, with slashes; empty for a file that is not below it."""
    path = absolute(file)
    try:
        return Path(path).relative_to(root).as_posix() if path else ""
    except ValueError:
        return ""


def region(site: Site) -> Region:
    """The line of a site, without the blanks around it."""
    raw = _raw(site)
    text = raw.strip()
    start = raw.index(text) + 1
    return Region(max(site.line, 1), start, start + len(text), raw)


def marked(finding: Finding) -> Region | None:
    """What stands there that does it, or else the whole line."""
    if finding.site is None:
        return None
    whole = region(finding.site)
    for line in places.excerpt(finding, context=0):
        if line.culprit and line.mark is not None:
            start, length = line.mark
            before, word = line.text[:start], line.text[start : start + length]
            at = whole.text.find(before + word)  # the excerpt is shown without its indentation
            if at >= 0:
                first = at + len(before) + 1
                return Region(whole.line, first, first + length, whole.text)
    return whole


def _raw(site: Site) -> str:
    file = site.file if source.recorded() is not None else absolute(site.file)
    text = source.line(file, site.line).rstrip("\r\n")
    return text if text.strip() and (not site.code or text.strip() == site.code.strip()) else site.code
