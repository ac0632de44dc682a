"""Layers and parameters that a forward pass makes anew each time: nothing can ever train them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.situation import Situation
from whygrad.flow.source import feeding_lines
from whygrad.model import Mark, Parameter, Site, Step, source
from whygrad.rules.cause import Cause
from whygrad.rules.membership.not_tracked import NotTracked

_FORWARD = frozenset(("forward", "call", "__call__"))
_OFTEN = 3  # of one line: a layer that is made when its input is first seen is made once


def made_in_forward(situation: Situation) -> Iterator[Cause]:
    """One cause for each line in a forward pass that makes parameters which live for that pass only."""
    lines: dict[Site, list[Parameter]] = {}
    for parameter in situation.parameters(situation.unheld):
        if _belongs_to_a_pass(parameter):
            lines.setdefault(parameter.made[0], []).append(parameter)
    for site, members in lines.items():
        passes = {b.number for b in situation.backwards for p in members if p.key in b.reached}
        if len(passes) >= _OFTEN and len(members) >= len(passes):
            yield _cause(situation, site, members)


def _belongs_to_a_pass(parameter: Parameter) -> bool:
    """Made while a network was computing, and gone with what it computed."""
    inside = any(site.function in _FORWARD for site in parameter.made[:2])
    return inside and not parameter.alive and not parameter.trained and not parameter.untracked_in


def _making(site: Site) -> Site:
    """A parameter by itself is first seen where it is used: the line before that makes it, if one does."""
    if "Parameter(" in site.code:
        return site
    near = [n for n, distance in feeding_lines(site.file, site.line).items() if distance == 1]
    made = [n for n in near if "Parameter(" in source.line(site.file, n) and n < site.line]
    return Site.read(site.file, made[-1], site.function) if made else site


def _cause(situation: Situation, used: Site, members: list[Parameter]) -> Cause:
    site, shapes = _making(used), {p.shape: p for p in members}
    kind = re.search(r"\b([A-Z]\w*)\(", site.code)
    name = f"{kind[1] if kind else 'a layer'} made in {site.function}()"
    steps = [o.steps for o in situation.evidence.optimizers.values()]
    return NotTracked(
        site=site,
        subjects=tuple(replace(p, name=name, network=name) for p in list(shapes.values())[:1]),
        chain=(Step.at(site, name, mark=Mark.HERE), Step("is gone after the forward pass")),
        first_update=1,
        updates=max(steps, default=0),
        how="made in call",
    )
