"""Terms of a policy that reach it with a gradient of nothing but zeros, beside others that still move it."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.entropies import parts
from whygrad.flow.naming import home, term_names
from whygrad.flow.scores import scored
from whygrad.flow.situation import Situation
from whygrad.flow.terms import written
from whygrad.model import Backward, Note, Op, Site
from whygrad.rules.words import place

_FEW = 2  # measurements: one alone may be a batch without a reward


def silent_terms(situation: Situation) -> Iterator[Note]:
    """Zero wherever it was measured: no advantage was other than zero then, or the term is a constant."""
    found: dict[object, list[tuple[Backward, Op, bool]]] = {}
    for backward in situation.backwards:
        if backward.error or not backward.shares:
            continue
        for term, _ in situation.terms(backward):
            norms = backward.shares.get(term.op.id, {})
            used = [norm for key, norm in norms.items() if key in backward.applied]
            if used:  # gradients that are handed over to others are no step's yet
                found.setdefault(written(backward.flow, term), []).append((backward, term.op, any(used)))
    told: set[Site | None] = set()
    for measured in found.values():
        backward, op, _ = measured[0]
        if len(measured) < _FEW or any(alive for _, _, alive in measured) or op.site in told:
            continue
        if _is_policy(backward, op):
            told.add(op.site)
            name = term_names(backward.flow, backward.roots, [op])[0]
            site = home(op)
            yield Note(
                f"`{name}` at {place(site)} gave a gradient of exactly zero in all {len(measured)} updates "
                "in which it was measured: right only if no advantage was other than zero",
                site,
                "doubt",
            )


def _is_policy(backward: Backward, op: Op) -> bool:
    """Does it score actions, and is more than an entropy?"""
    found = list(parts(backward.flow, op.id))
    return scored(backward.flow, op.id) and any(not part.entropy for part in found)
