"""Values that cannot be what a return or an action may be: ``relu`` on the last layer."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.axes import is_layer
from whygrad.flow.densities import drawn_around
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Flow, Kind, Note, Op, Site
from whygrad.model.kinds import SAME_NUMBERS
from whygrad.rules.words import place

_NEAR = 8
_BETWEEN = SAME_NUMBERS | {Kind.PICK, Kind.CHOOSE, Kind.SUM, Kind.MULTIPLY}
_ENDS = {
    Kind.RELU: "is never below 0",
    Kind.TANH: "stays between -1 and 1",
    Kind.SIGMOID: "stays between 0 and 1",
    Kind.SOFTMAX: "stays between 0 and 1",
}


def bounded_values(situation: Situation) -> Iterator[Note]:
    """No fault if no return is beyond that, which nobody has looked at."""
    told: set[Site | None] = set()
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward) if not backward.error else ():
            if boot.spread:
                continue
            for prediction in boot.predictions:
                op = _end(backward, prediction.op)
                if op is not None and op.site not in told:
                    told.add(op.site)
                    yield Note(
                        f"the value that is learnt at {place(boot.residual.site or op.site)} comes out of "
                        f"`{op.name}` and {_ENDS[op.kind]}: wrong if returns are not",
                        op.site,
                        "doubt",
                    )


def bounded_means(situation: Situation) -> Iterator[Note]:
    """What is drawn around a mean that comes out of ``relu``: right where nothing below 0 is wanted."""
    told: set[Site | None] = set()
    for backward in situation.backwards:
        for number in sorted(situation.living(backward)) if not backward.error else ():
            mean = drawn_around(backward.flow, backward.flow[number])
            op = _end(backward, mean) if mean is not None else None
            if op is not None and op.kind is Kind.RELU and op.site not in told:
                told.add(op.site)
                where = place(backward.flow[number].site or op.site)
                yield Note(
                    f"the mean of what is drawn at {where} comes out of `{op.name}` and {_ENDS[op.kind]}: "
                    "wrong if actions may be",
                    op.site,
                    "doubt",
                )


def _end(backward: Backward, number: int) -> Op | None:
    """The activation of the last layer, if the prediction is that and no more."""
    flow: Flow = backward.flow
    for _ in range(_NEAR):
        op = flow.ops.get(number)
        if op is None or op.fresh or op.parameter is not None:
            return None
        if op.kind in _ENDS and len(op.inputs) == 1:
            return op if is_layer(flow, flow[op.inputs[0]]) else None
        live = [i for i in op.inputs if flow[i].carries]
        if op.kind not in _BETWEEN or len(live) != 1 or op.numbers:
            return None
        number = live[0]
    return None
