"""Errors of a prediction that a loss makes larger."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import ancestors, living_values
from whygrad.flow.situation import Situation
from whygrad.flow.sums import Addend, Parts
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Op, Optimizer, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.losses.judge_signs import Signed, signed
from whygrad.rules.losses.value_sign import ValueSign


def climbed(situation: Situation) -> Iterator[Cause]:
    """One cause per loss in which the distance to a target has a minus, wherever its sign is known."""
    wrong: dict[Site | None, Cause] = {}
    right: set[Site | None] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer) if optimizer.descends else ():
            for backward in update.backwards:
                if not backward.applied & optimizer.held or not situation.whole(backward):
                    continue
                for part, worse in _errors(situation, optimizer, backward):
                    if worse:
                        wrong.setdefault(part.op.site, _cause(situation, optimizer, backward, part.op))
                    else:
                        right.add(part.op.site)
    yield from (cause for site, cause in wrong.items() if site not in right)


def _errors(situation: Situation, optimizer: Optimizer, backward: Backward) -> Iterator[tuple[Signed, bool]]:
    """The regressions in a loss, with whether they are made larger."""
    parts = situation.parts(backward)
    found = [p for root in backward.roots for p in signed(backward.flow, root)]
    if any(p.op.kind is Kind.UNSEEN for p in found):
        return
    spread = {boot.residual.id for boot in situation.bootstraps(backward) if boot.spread}
    for part in found:
        if part.op.id in spread:  # log-probabilities, weighed by the probabilities of the target
            yield part, (part.sign > 0) == (part.op.kind is Kind.MULTIPLY)
        elif _is_error(parts, part.op) and _own(optimizer, backward, part.op):
            yield part, part.sign < 0


def _is_error(parts: Parts, op: Op) -> bool:
    """The distance between what is trained and something made of data, element by element."""
    inputs = op.inputs
    if op.kind is Kind.LOSS and len(inputs) >= 2:
        return _compares(parts, [*parts.addends(inputs[0]), *parts.addends(inputs[1], -1)])
    power = op.kind is Kind.POWER and not op.swapped and op.numbers[-1:] == (2.0,)
    itself = op.kind is Kind.MULTIPLY and len(inputs) == 2 and inputs[0] == inputs[1]
    squared = (power or op.kind is Kind.MAGNITUDE) and len(inputs) == 1
    return (squared or itself) and _compares(parts, parts.addends(inputs[0]))


def _compares(parts: Parts, addends: list[Addend]) -> bool:
    """What is trained with one sign, data with the other, or a constant that has more data in it."""
    live = [a for a in addends if a.live]
    if len({a.sign for a in live}) != 1:
        return False
    targets = [a for a in addends if not a.live and a.op and a.sign == -live[0].sign]
    own = set[int]().union(*(ancestors(parts.flow, a.op) for a in live))
    return any(a.data or _has_more(parts.flow, a.op, own) for a in targets)


def _has_more(flow: Flow, op: int, own: set[int]) -> bool:
    """Rewards: data that the prediction was not computed from."""
    return any(flow[n].fresh and flow[n].floating for n in ancestors(flow, op) - own)


def _own(optimizer: Optimizer, backward: Backward, op: Op) -> bool:
    """Is all that gave the prediction trained here? Whoever makes another network err may mean it."""
    behind = {
        k for n in living_values(backward.flow, [op.id]) if (k := backward.flow[n].parameter) is not None
    }
    return bool(behind) and behind <= optimizer.held


def _cause(situation: Situation, optimizer: Optimizer, backward: Backward, op: Op) -> ValueSign:
    root = backward.flow[backward.roots[0]]
    behind = {backward.flow[n].parameter for n in living_values(backward.flow, [op.id])}
    site = root.site or op.site
    steps = () if op.site == site else (Step.at(op.site, "the error"),)
    return ValueSign(
        site=site,
        subjects=situation.parameters(backward.applied & optimizer.held & behind),
        chain=(*steps, Step.at(site, "the loss", mark=Mark.HERE)),
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=root.site,
        first_update=1,
        updates=optimizer.steps,
        regression=True,
    )
