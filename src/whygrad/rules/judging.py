"""All topics together: each suffering parameter gets the cause that explains it best."""

from __future__ import annotations

from dataclasses import replace

from whygrad.flow.situation import Situation
from whygrad.model import Evidence, Severity
from whygrad.rules.cause import Cause
from whygrad.rules.clearing.gradient_handover import GradientHandover
from whygrad.rules.clearing.judge_handovers import handovers
from whygrad.rules.dialects import dialect_of
from whygrad.rules.failing.judge_errors import broken
from whygrad.rules.figures.judge_figures import unhealthy
from whygrad.rules.judging_wrong import wrong
from whygrad.rules.losses.judge_surrogates import constant_terms, surrogates
from whygrad.rules.membership.judge_captured import captured
from whygrad.rules.membership.judge_empty import empty
from whygrad.rules.membership.judge_frozen import frozen_parts
from whygrad.rules.membership.judge_made import made_in_forward
from whygrad.rules.membership.judge_overwritten import undone
from whygrad.rules.membership.judge_thawed import thawed
from whygrad.rules.membership.judge_unheld import unheld
from whygrad.rules.membership.stale_closure import StaleClosure
from whygrad.rules.membership.stale_optimizer import StaleOptimizer
from whygrad.rules.membership.wrong_variables import WrongVariables
from whygrad.rules.paths.judge_absent import absent, failed, thawed_never, unscaled
from whygrad.rules.paths.judge_branches import branches
from whygrad.rules.paths.judge_flat import stepwise
from whygrad.rules.paths.judge_idle import idle
from whygrad.rules.paths.judge_masked import masked
from whygrad.rules.paths.judge_masked_source import masked_by_source
from whygrad.rules.paths.judge_tapes import asked_twice, crossed, predicts, unwatched
from whygrad.rules.paths.judge_truncated import truncations
from whygrad.rules.paths.loss_independent import LossIndependent
from whygrad.rules.stepping.judge_created import created_inside
from whygrad.rules.stepping.judge_leaf_roots import leaf_roots
from whygrad.rules.stepping.judge_unanswered import unanswered
from whygrad.rules.stepping.judge_unstepped import fake_root, no_step
from whygrad.rules.unexplained.judge_unexplained import unexplained


def causes(situation: Situation) -> list[Cause]:
    """Why parameters suffer, the gravest first. One cause per rule and line."""
    evidence = situation.evidence
    silent = [
        *absent(situation),
        *failed(situation),
        *unscaled(situation),
        *thawed_never(situation),
        *stepwise(situation),
    ]
    silent += unanswered(situation) if evidence.complete else ()
    missing = _without_stale(situation, silent)
    left_out = list(unheld(situation)) if evidence.complete else []
    missing = _explained_by_replacement(missing, [*left_out, *handovers(situation)])
    missing = leaf_roots(situation, surrogates(situation, missing))
    found = [*broken(situation), *asked_twice(situation), *crossed(situation), *empty(situation)]
    found += created_inside(situation)
    found += [*missing, *left_out, *frozen_parts(situation)]
    found += [*made_in_forward(situation), *(thawed(situation) if evidence.complete else ())]
    found += [*no_step(situation), *captured(situation)] if evidence.complete else []
    found += [*unwatched(situation), *predicts(situation)]
    constant = list(constant_terms(situation))
    of_these = {c.loss for c in constant}
    found += constant
    found += [c for c in masked(situation) if not _same_place(c, found) and c.loss not in of_these]
    found += [c for c in (*branches(situation), *truncations(situation)) if not _same_place(c, found)]
    found += [c for c in masked_by_source(situation) if not _same_place(c, found) and c.loss not in of_these]
    found += [c for c in idle(situation) if not _same_place(c, found)]
    found += fake_root(situation, missing)
    found += wrong(situation)
    found += undone(situation) if evidence.complete else ()
    found += list(unhealthy(situation, found))
    found += list(unexplained(situation, [*found, *silent])) if evidence.complete else []
    if not evidence.complete:
        found = [cause for cause in found if cause.seen]  # whoever lost sight cannot say what never came
    return [in_context(evidence, cause) for cause in _once(found)]


def in_context(evidence: Evidence, cause: Cause) -> Cause:
    """The framework's own words, and which networks suffer as a whole: they go by their own name."""
    suffering = {p.key for p in cause.subjects}
    spared = {p.network for p in evidence.parameters.values() if p.key not in suffering}
    whole = {p.network for p in cause.subjects if p.network not in spared}
    return replace(cause, whole=frozenset(whole), dialect=dialect_of(evidence.framework))


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
    wrong_ones = (StaleOptimizer, WrongVariables, StaleClosure, GradientHandover)
    blamed = {c.optimizer for c in left_out if isinstance(c, wrong_ones)}
    return [c for c in found if not (isinstance(c, LossIndependent) and c.optimizer in blamed)]


def _same_place(cause: Cause, found: list[Cause]) -> bool:
    return any(c.rule == cause.rule and c.site == cause.site for c in found)


def _once(found: list[Cause]) -> list[Cause]:
    """The same cause seen through two optimizers is one cause."""
    kept: dict[object, Cause] = {}
    for cause in found:
        key = (cause.rule, cause.site, cause.severity is Severity.NOTE)  # a head beside a network
        known = kept.get(key)
        if known is None:
            kept[key] = cause
        else:
            names = {p.key for p in known.subjects}
            extra = tuple(p for p in cause.subjects if p.key not in names)
            kept[key] = replace(known, subjects=(*known.subjects, *extra))
    return list(kept.values())
