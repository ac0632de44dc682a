"""A situation in, findings out; and for people who want to see more, who trains whom and what is right."""

from __future__ import annotations

from dataclasses import dataclass, field

from whygrad.flow.gradient_map import gradient_maps
from whygrad.flow.situation import Situation
from whygrad.model import Drawing, Finding, GradientMap, Note, Role, Severity
from whygrad.rules.certificates import certificates
from whygrad.rules.clearing.judge_handovers import unseen_origins
from whygrad.rules.drawing import drawing
from whygrad.rules.judging import causes
from whygrad.rules.losses.judge_clipped import clipped_away
from whygrad.rules.losses.judge_silent_terms import silent_terms
from whygrad.rules.membership.judge_by_hand import passed_over
from whygrad.rules.roles import roles
from whygrad.rules.table import RULES
from whygrad.rules.targets.judge_bounded import bounded_means, bounded_values
from whygrad.rules.targets.judge_inverted import never_kept
from whygrad.rules.targets.judge_syncs import left_behind, unplaced_copies, unreached_syncs

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Picture:
    """What can be said of a run beside its faults."""

    gradient_map: tuple[GradientMap, ...] = ()
    roles: tuple[Role, ...] = ()
    certificates: tuple[Note, ...] = ()
    drawing: Drawing = field(default_factory=Drawing)


def diagnose(situation: Situation) -> tuple[Finding, ...]:
    """What is wrong, the gravest first; one finding per cause."""
    findings = [RULES[cause.rule].phrase(cause) for cause in causes(situation)]
    return tuple(sorted(findings, key=lambda f: _ORDER.index(f.severity)))


def picture(situation: Situation, healthy: bool) -> Picture:
    """Who trains whom, what each network is, what was not reached; and what is right, if nothing is wrong."""
    right = certificates(situation) if healthy else ()
    doubts = (
        *unreached_syncs(situation),
        *left_behind(situation),
        *unplaced_copies(situation),
        *unseen_origins(situation),
        *passed_over(situation),
        *never_kept(situation),
        *bounded_values(situation),
        *bounded_means(situation),
        *clipped_away(situation),
        *silent_terms(situation),
    )
    return Picture(gradient_maps(situation), roles(situation), (*doubts, *right), drawing(situation))
