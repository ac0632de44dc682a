"""All attributions together: each suffering parameter gets the cause that explains it best."""

from __future__ import annotations

from dataclasses import replace

from whygrad.model import Evidence
from whygrad.rules.attribution.absent import absent, failed, thawed_never
from whygrad.rules.attribution.broken import broken
from whygrad.rules.attribution.captured import captured
from whygrad.rules.attribution.idle import fake_root, no_step
from whygrad.rules.attribution.masked import masked
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.attribution.stepwise import stepwise
from whygrad.rules.attribution.surrogates import surrogates
from whygrad.rules.attribution.tapes import asked_twice, crossed, predicts, unwatched
from whygrad.rules.attribution.undone import undone
from whygrad.rules.attribution.unhealthy import unhealthy
from whygrad.rules.attribution.unheld import unheld
from whygrad.rules.attribution.wrong import wrong
from whygrad.rules.cause import Cause


def causes(evidence: Evidence) -> list[Cause]:
    """Why parameters suffer, the gravest first. One cause per rule and line."""
    situation = Situation(evidence)
    silent = [*absent(situation), *failed(situation), *thawed_never(situation), *stepwise(situation)]
    missing = _without_stale(situation, silent)
    left_out = list(unheld(situation)) if evidence.complete else []
    missing = _explained_by_replacement(missing, left_out)
    missing = surrogates(situation, missing)
    found = [*broken(situation), *asked_twice(situation), *crossed(situation), *missing, *left_out]
    found += [*no_step(situation), *captured(situation)] if evidence.complete else []
    found += [*unwatched(situation), *predicts(situation)]
    found += [c for c in masked(situation) if not _same_place(c, found)]
    found += fake_root(situation, missing)
    found += wrong(situation)
    found += undone(situation) if evidence.complete else ()
    found += list(unhealthy(situation, found))
    return [_with_whole_networks(situation, cause) for cause in _once(found)]


def _with_whole_networks(situation: Situation, cause: Cause) -> Cause:
    """Say of which networks every parameter suffers: they can be called by their own name."""
    suffering = {p.key for p in cause.subjects}
    spared = {p.network for p in situation.evidence.parameters.values() if p.key not in suffering}
    whole = dict.fromkeys(p.network for p in cause.subjects if p.network not in spared)
    framework = situation.evidence.framework
    return replace(cause, details={**cause.details, "whole": ", ".join(whole), "framework": framework})


def _without_stale(situation: Situation, found: list[Cause]) -> list[Cause]:
    """Parameters that only an optimizer still holds do not suffer: their successors do."""
    kept = []
    for cause in found:
        alive = tuple(p for p in cause.subjects if p.alive)
        if alive or not situation.unheld:
            kept.append(replace(cause, subjects=alive or cause.subjects))
    return kept


def _explained_by_replacement(found: list[Cause], left_out: list[Cause]) -> list[Cause]:
    """The optimizer that holds the wrong parameters is the cause, not the loss that ignores them."""
    blamed = {
        c.optimizer for c in left_out if c.rule in ("stale-optimizer", "wrong-variables", "stale-closure")
    }
    return [c for c in found if not (c.rule == "loss-independent" and c.optimizer in blamed)]


def _same_place(cause: Cause, found: list[Cause]) -> bool:
    return any(c.rule == cause.rule and c.site == cause.site for c in found)


def _once(found: list[Cause]) -> list[Cause]:
    """The same cause seen through two optimizers is one cause."""
    kept: dict[tuple[str, object], Cause] = {}
    for cause in found:
        key = (cause.rule, cause.site)
        known = kept.get(key)
        if known is None:
            kept[key] = cause
        else:
            names = {p.key for p in known.subjects}
            extra = tuple(p for p in cause.subjects if p.key not in names)
            kept[key] = replace(known, subjects=(*known.subjects, *extra))
    return list(kept.values())
