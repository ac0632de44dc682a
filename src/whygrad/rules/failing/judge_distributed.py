"""Distributed training that stops because a parameter had no part in the last loss."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import Reach
from whygrad.flow.situation import Situation
from whygrad.flow.terms import terms
from whygrad.model import Confidence, Mark, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.failing.unused_in_ddp import UnusedInDdp


def unused_in_ddp(situation: Situation) -> Iterator[Cause]:
    """What the other ranks wait for. Where it took part earlier, the term that is left out is to blame."""
    crash = situation.evidence.crash
    if crash is None or not crash.unused:
        return
    members = situation.parameters(crash.unused)
    term = _earlier_term(situation, crash.unused)
    yield UnusedInDdp(
        site=term or crash.site,
        subjects=members,
        chain=(
            Step(members[0].name, members[0].made[0] if members[0].made else None),
            *((Step.at(term, "a term of the loss", mark=Mark.HERE),) if term is not None else ()),
            Step("not in the last loss"),
            Step.at(crash.site, crash.op, mark=Mark.BROKEN),
        ),
        confidence=Confidence.LIKELY if term else Confidence.CERTAIN,
        sometimes=term is not None,
        stopped=crash.site,
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
