"""Masks that should end a bootstrap at a terminal state, and scale it instead."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Flow, Kind, Mark, Op, Site, Step
from whygrad.model.kinds import SUMS
from whygrad.rules.cause import Cause
from whygrad.rules.stepped import stepped
from whygrad.rules.targets.terminal_mask import TerminalMask


def masks(situation: Situation) -> Iterator[Cause]:
    """A factor of the bootstrap value is a mask made of data that holds more than 0 and 1."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        parts = situation.parts(backward)
        flow = parts.flow
        meets = {boot.meets.site: boot for boot in situation.bootstraps(backward)}
        for boot in meets.values():
            for number in ancestors(flow, boot.meets.id):
                op = flow[number]
                masks = [m for i in op.inputs if not parts.behind(i) for m in _odd(flow, i)]
                product = op.kind is Kind.MULTIPLY and (boot.spread or parts.behind(number))
                if not masks or not product or op.site in done:
                    continue
                done.add(op.site)
                yield _cause(situation, backward, boot, op, masks[0])


def _cause(situation: Situation, backward: Backward, boot: Bootstrap, product: Op, mask: Op) -> Cause:
    keys = situation.parts(backward).behind(boot.predictions[0].op) & backward.applied
    return TerminalMask(
        site=product.site,
        chain=(
            Step.at(mask.site, "the mask"),
            Step.at(product.site, "the target", mark=Mark.HERE),
        ),
        loss=boot.residual.site,
        mask=mask.site,
        **stepped(situation, keys or backward.applied),
    )


def _more_than_one(flow: Flow, op: Op) -> bool:
    """``1 - 255 * done``: whatever is in ``done``, it is no mask."""
    if op.kind is not Kind.SUBTRACT or not op.swapped or op.numbers[:1] != (1.0,) or len(op.inputs) != 1:
        return False
    inside = flow[op.inputs[0]]
    alone = inside.kind is Kind.MULTIPLY and len(inside.inputs) == 1 and len(inside.numbers) == 1
    return alone and abs(inside.numbers[0]) > 1


def _odd(flow: Flow, start: int) -> list[Op]:
    """The mask in a factor made of data, perhaps reshaped, cast or discounted since."""
    found, here = [], start
    for _ in range(8):
        op = flow[here]
        if op.odd or _more_than_one(flow, op):
            found.append(op)
        if op.fresh or not op.inputs or op.kind in SUMS:
            break
        here = op.inputs[0]
    return found
