"""Compiled functions that make an optimizer, or a layer, each time they run: the second one is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Mark, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.membership.not_tracked import NotTracked
from whygrad.rules.stepping.optimizer_recreated import OptimizerRecreated

_REFUSED = "variables created on the first call", "variables on a non-first call"
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\w+)')
_LIBRARIES = ("site-packages", "dist-packages", "autograph_generated")
_FORWARD = ("call", "__call__", "forward")


def created_inside(situation: Situation) -> Iterator[Cause]:
    """The line of the user's that makes variables in a function which is compiled."""
    crash = situation.evidence.crash
    if crash is None or not any(words in crash.error.lower() for words in _REFUSED):
        return
    site = _last_of_the_user(crash.error) or crash.site
    if site is None:
        return
    here = (site.file, site.line)
    made = [
        o for o in situation.evidence.optimizers.values() if o.made and (o.made.file, o.made.line) == here
    ]
    if made or "optimizers." in site.code:
        yield _optimizer(situation, site, made)
    elif site.function in _FORWARD:
        yield _layer(site)


def _last_of_the_user(message: str) -> Site | None:
    """The innermost frame in the message that is no library's."""
    frames = [f for f in _FRAME.findall(message) if not any(part in f[0] for part in _LIBRARIES)]
    return Site.read(frames[-1][0], int(frames[-1][1]), frames[-1][2]) if frames else None


def _optimizer(situation: Situation, site: Site, made: list[Optimizer]) -> Cause:
    keys = frozenset[int]().union(*(o.held for o in made))
    kind = re.search(r"(\w+)\(", site.code.rpartition("optimizers.")[2])
    return OptimizerRecreated(
        site=site,
        subjects=situation.parameters(keys),
        chain=(Step.at(site, "an optimizer", mark=Mark.BROKEN),),
        optimizer=made[0].name if made else "",
        kind=made[0].kind if made else kind[1] if kind else "",
        refused=True,
    )


def _layer(site: Site) -> Cause:
    kind = re.search(r"(\w+)\(", site.code.rpartition("layers.")[2])
    name = f"{kind[1] if kind else 'a layer'} made in {site.function}()"
    return NotTracked(
        site=site,
        subjects=(Parameter(key=-1, name=name, network=name),),
        chain=(Step.at(site, name, mark=Mark.BROKEN),),
        how="made in call",
    )
