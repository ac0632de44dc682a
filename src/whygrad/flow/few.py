"""A loop over a thousand steps writes the same line a thousand times: a few of them tell the story."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whygrad.model import Op


def few_per_line(ops: Iterable[Op], most: int = 3) -> Iterator[Op]:
    """At most so many operations of one name on one line, those that act apart from those that train."""
    seen: dict[object, int] = {}
    for op in ops:
        key = (op.site, op.name, op.carries, op.shape)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= most:
            yield op
