"""Soft values in a bootstrap target, ``q(s', a') - alpha * log_prob(a')``, with the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.densities import own_density
from whygrad.flow.entropies import coefficient
from whygrad.flow.scores import is_probability
from whygrad.flow.situation import Situation
from whygrad.flow.sums import Addend, Parts
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Op, Severity, Site, Step
from whygrad.model.kinds import KEEPS_VALUE, REDUCTIONS, SUMS
from whygrad.rules.cause import Cause
from whygrad.rules.losses.entropy_sign import EntropySign
from whygrad.rules.stepped import stepped

_NEAR = 12


def soft_targets(situation: Situation) -> Iterator[Cause]:
    """One cause per target in which states are worth less where the policy is open."""
    wrong: dict[Site | None, Cause] = {}
    right: set[Site | None] = set()
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward) if not backward.error else ():
            for number, sign in _entropies(situation.parts(backward), boot):
                site = backward.flow[number].site if number in backward.flow.ops else boot.meets.site
                if sign > 0:
                    wrong.setdefault(site, _cause(situation, backward, boot, site))
                else:
                    right.add(site)
    yield from (cause for site, cause in wrong.items() if site not in right)


def _entropies(parts: Parts, boot: Bootstrap) -> Iterator[tuple[int, int]]:
    """Where a log-probability joins the value of the next state, and its sign beside that value."""
    value = boot.value
    for side in boot.residual.inputs[:2]:
        for addend in parts.addends(side):
            if addend.op == value.op or addend.data or not _inside(value, addend):
                continue
            score = _log_probability(parts.flow, addend.op)
            if score:
                together = [n for n in addend.sums if n in value.sums[value.around :]]
                own = [a.sign for a in parts.addends(side) if a.op == value.op]
                if together and len(set(own)) == 1:
                    yield together[-1], score * addend.sign * own[0]


def _inside(value: Addend, other: Addend) -> bool:
    """Is it discounted with the value, by the very same factor? A reward may have an entropy of its own."""
    return bool(value.scales and other.scales and value.scales[0] == other.scales[0])


def _log_probability(flow: Flow, number: int) -> int:
    """The sign of the logarithm of a probability, summed up over dimensions, times a coefficient; else 0."""
    op, sign = flow[number], 1
    for _ in range(_NEAR):
        if op.api.endswith("log_prob") or op.kind is Kind.LOG_SOFTMAX:
            return sign
        if op.kind is Kind.LOG:
            return sign if any(is_probability(flow, i, squashed=True) for i in op.inputs) else 0
        inner = _inner(flow, op)
        if inner is None or op.kind in SUMS:
            written = own_density(flow, op.id)
            if written or inner is None:
                return sign * written
        op, sign = flow[inner[0]], sign * inner[1]
    return 0


def _inner(flow: Flow, op: Op) -> tuple[int, int] | None:
    """What a value is the same as, but for a coefficient, with its sign."""
    if op.kind is Kind.MULTIPLY and len(op.inputs) == 2:
        one, two = op.inputs
        for factor, rest in ((one, two), (two, one)):
            known = coefficient(flow, flow[factor])
            if known:
                return rest, known
    same = op.kind in KEEPS_VALUE | REDUCTIONS | {Kind.SUBTRACT, Kind.CHOOSE, Kind.PICK}
    return (op.inputs[0], 1) if same and op.inputs else None


def _cause(situation: Situation, backward: Backward, boot: Bootstrap, site: Site | None) -> Cause:
    parts = situation.parts(backward)
    keys = frozenset(k for p in boot.predictions for k in parts.behind(p.op)) & backward.applied
    return EntropySign(
        site=site,
        chain=(
            Step.at(site, "the soft value", mark=Mark.HERE),
            Step.at(boot.residual.site, boot.residual.name),
        ),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        loss=boot.residual.site,
        sampled=True,
        target=True,
        **stepped(situation, keys or backward.applied),
    )
