"""Distributed training that stops because a parameter had no part in the last loss."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import Reach
from whygrad.flow.terms import terms
from whygrad.model import Confidence, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause


def unused_in_ddp(situation: Situation) -> Iterator[Cause]:
    """What the other ranks wait for. Where it took part earlier, the term that is left out is to blame."""
    crash = situation.evidence.crash
    if crash is None or not crash.unused:
        return
    members = situation.parameters(crash.unused)
    term = _earlier_term(situation, crash.unused)
    steps = [Step(members[0].name, members[0].made[0] if members[0].made else None)]
    if term is not None:
        steps.append(Step(term.code, term))
    steps += [
        Step("not in the last loss", None, cut=True),
        Step(crash.site.code if crash.site else "", crash.site),
    ]
    details = {"at": str(crash.site.line) if crash.site else "", "kind": "sometimes" if term else "never"}
    yield Cause(
        "unused-in-ddp",
        term or crash.site,
        members,
        tuple(steps),
        details,
        confidence=Confidence.LIKELY if term else Confidence.CERTAIN,
    )


def _earlier_term(situation: Situation, keys: frozenset[int]) -> Site | None:
    """The last recorded term of a loss that reached one of these parameters."""
    for backward in reversed(situation.backwards):
        if not backward.reached & keys:
            continue
        for root in backward.roots:
            for term in terms(backward.flow, root, deep=False):
                if Reach(backward.flow, [term.op.id]).living() & keys:
                    return term.op.site
    return None
