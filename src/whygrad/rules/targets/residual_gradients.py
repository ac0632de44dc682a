"""A residual gradient may be meant: both sides of the equation are trained, as Baird wrote it down."""

from __future__ import annotations

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.paths import stops
from whygrad.flow.roles import targets
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Kind
from whygrad.model.kinds import EXTREMES

_ACTS = EXTREMES | {Kind.CHOOSE}


def may_be_meant(situation: Situation, backward: Backward, boot: Bootstrap) -> bool:
    """Is a policy evaluated, with one network, by somebody who never stops a gradient of its?

    With a choice among actions it is control, where the residual gradient is hardly ever wanted; whoever has
    a target network, or cuts values of this network off elsewhere, has forgotten it here.
    """
    parts = situation.parts(backward)
    predicted = frozenset(k for p in boot.predictions if p.live for k in parts.behind(p.op))
    sides = (boot.value, *boot.predictions)
    chosen = any(parts.flow[number].kind in _ACTS for side in sides for number in (side.op, *side.picks))
    if chosen or not predicted or predicted != parts.behind(boot.value.op):
        return False
    backwards = [b for b in situation.backwards if not b.error]
    known = targets((situation.parts(b), other) for b in backwards for other in situation.bootstraps(b))
    return not any(True for _ in known) and not any(_cuts(situation, b, predicted) for b in backwards)


def _cuts(situation: Situation, backward: Backward, keys: frozenset[int]) -> bool:
    """Is a value of this network cut off anywhere behind the loss?"""
    flow, parts = backward.flow, situation.parts(backward)
    return any(stops(flow[i], op) and parts.behind(i) & keys for op in flow.ops.values() for i in op.inputs)
