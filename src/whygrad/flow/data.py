"""Values that came into the framework from plain data: which line computed them?"""

from __future__ import annotations

from whygrad.flow.source import feeding_lines
from whygrad.model import Op, Site


def made(op: Op) -> Site | None:
    """The line that computed a value; of data that came in, the assignment before it came in."""
    site = op.site
    if site is None or not op.fresh:
        return site
    lines = feeding_lines(site.file, site.line)
    before = [n for n, distance in lines.items() if distance == 1 and n < site.line]
    return Site.read(site.file, max(before), site.function) if before else site
