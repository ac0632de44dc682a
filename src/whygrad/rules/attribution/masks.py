"""Masks that should end a bootstrap at a terminal state, and scale it instead."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import ancestors
from whygrad.model import Flow, Op, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_TIMES = frozenset(("mul", "rmul", "multiply", "imul"))


def masks(situation: Situation) -> Iterator[Cause]:
    """A factor of the bootstrap value is a mask made of data that holds more than 0 and 1."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        flow, parts = backward.flow, situation.parts(backward)
        meets = {boot.meets.site: boot for boot in situation.bootstraps(backward)}
        for boot in meets.values():
            for number in ancestors(flow, boot.meets.id):
                op = flow[number]
                masks = [m for i in op.inputs if not parts.behind(i) for m in _odd(flow, i)]
                if (
                    not masks
                    or op.name.strip("_") not in _TIMES
                    or not parts.behind(number)
                    or op.site in done
                ):
                    continue
                done.add(op.site)
                keys = situation.parts(backward).behind(boot.predictions[0].op) & backward.applied
                optimizer = next((o for o in situation.evidence.optimizers.values() if o.held & keys), None)
                steps = (
                    Step(_code(masks[0].site, "the mask"), masks[0].site),
                    Step(_code(op.site, "the target"), op.site, cut=True),
                )
                yield Cause(
                    "terminal-mask",
                    op.site,
                    situation.parameters(keys or backward.applied),
                    steps,
                    {"mask": _code(masks[0].site, "")},
                    optimizer=optimizer.name if optimizer else "",
                    loss=boot.residual.site,
                    first_update=1,
                    updates=optimizer.steps if optimizer else 0,
                )


def _odd(flow: Flow, start: int) -> list[Op]:
    """The mask in a factor made of data, perhaps reshaped, cast or discounted since."""
    found, here = [], start
    for _ in range(8):
        op = flow[here]
        if op.odd:
            found.append(op)
        if op.fresh or not op.inputs or op.name.strip("_") in ("rsub", "add", "sub"):
            break
        here = op.inputs[0]
    return found


def _code(site: Site | None, otherwise: str) -> str:
    return site.code if site is not None and site.code else otherwise
