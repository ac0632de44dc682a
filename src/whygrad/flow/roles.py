"""Who is what: online and target networks, actors, critics, from what they do and never from their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.sums import Parts
from whygrad.model import Copy, Site


@dataclass(frozen=True, slots=True)
class Target:
    """Parameters whose values a bootstrap target is made of, and who is regressed on it."""

    keys: frozenset[int]
    online: frozenset[int]
    site: Site | None  # where the target is computed


def targets(found: Iterable[tuple[Parts, Bootstrap]]) -> list[Target]:
    """The networks that give bootstrap values, apart from those that they are compared with."""
    seen: dict[tuple[frozenset[int], frozenset[int]], Target] = {}
    for parts, boot in found:
        online = frozenset(k for p in boot.predictions for k in parts.behind(p.op))
        keys = parts.behind(boot.value.op) - online
        if keys:
            seen.setdefault((keys, online), Target(keys, online, boot.meets.site))
    return list(seen.values())


def pairs(copies: Iterable[Copy]) -> dict[int, set[int]]:
    """Parameter -> the parameters that were ever copied into it, wholly or in part."""
    found: dict[int, set[int]] = {}
    for copy in copies:
        if copy.factor == 0:
            continue  # tau is 0: nothing was copied
        found.setdefault(copy.target, set()).add(copy.source)
    return found
