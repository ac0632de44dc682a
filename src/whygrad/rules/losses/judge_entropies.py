"""Entropies that are made smaller where they should be made larger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whygrad.flow.entropies import Part, parts
from whygrad.flow.paths import ancestors, living_values
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Optimizer, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.losses.entropy_sign import EntropySign


def entropies(situation: Situation) -> Iterator[Cause]:
    """One cause per loss in which an entropy has the sign of a penalty, wherever that is known."""
    wrong: dict[Site | None, Cause] = {}
    right: set[Site | None] = set()
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer) if optimizer.descends else ():
            for backward in update.backwards:
                if not backward.applied & optimizer.held or not situation.whole(backward):
                    continue
                for part, bad in _known(backward):
                    if bad:
                        wrong.setdefault(part.op.site, _cause(situation, optimizer, backward, part))
                    else:
                        right.add(part.op.site)
    yield from (cause for site, cause in wrong.items() if site not in right)


def _known(backward: Backward) -> Iterator[tuple[Part, bool]]:
    """The entropies in a loss that has more to it; is each of them made smaller?"""
    found = [part for root in backward.roots for part in parts(backward.flow, root)]
    if any(part.op.kind is Kind.UNSEEN for part in found):
        return
    for part in found:
        others = [other for other in found if not other.entropy]
        if part.entropy and any(_beside(backward.flow, part, other) for other in others):
            yield part, part.sign * part.entropy > 0


def _beside(flow: Flow, entropy: Part, other: Part) -> bool:
    """Is this the policy's own objective: it trains what the entropy trains?

    The log-probability of a sample is an entropy only where the sample also goes through another network.
    """
    own, others = _behind(flow, entropy.op.id), _behind(flow, other.op.id)
    if entropy.sampled:  # a critic that is frozen for the time is another network, too
        return bool(own & others) and bool(_parameters(flow, ancestors(flow, other.op.id)) - own)
    return bool(own & others)


def _behind(flow: Flow, op: int) -> frozenset[int]:
    return _parameters(flow, living_values(flow, [op]))


def _parameters(flow: Flow, ops: Iterable[int]) -> frozenset[int]:
    return frozenset(k for n in ops if (k := flow[n].parameter) is not None)


def _cause(situation: Situation, optimizer: Optimizer, backward: Backward, part: Part) -> EntropySign:
    root = backward.flow[backward.roots[0]]
    keys = _behind(backward.flow, part.op.id) & backward.applied & optimizer.held
    site = root.site or part.op.site
    steps = () if part.op.site == site else (Step.at(part.op.site, "the entropy"),)
    return EntropySign(
        site=site,
        subjects=situation.parameters(keys or backward.applied & optimizer.held),
        chain=(*steps, Step.at(site, "the loss", mark=Mark.HERE)),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=root.site,
        first_update=1,
        updates=optimizer.steps,
        sampled=part.sampled,
    )
