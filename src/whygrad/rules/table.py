"""The table of all rules: what the topics export, in the order in which people read about them."""

from __future__ import annotations

from typing import Any

from whygrad.rules import (
    clearing,
    clipping,
    failing,
    figures,
    losses,
    membership,
    paths,
    stepping,
    targets,
    unexplained,
)
from whygrad.rules.rule import Rule

TOPICS = (paths, membership, stepping, targets, losses, clearing, clipping, failing, figures, unexplained)

FAMILIES: dict[str, str] = {
    "missing": "a parameter that should learn gets no gradient",
    "wrong": "gradients arrive, but not the ones that the algorithm wants",
    "unhealthy": "gradients arrive and are right, but training suffers",
}


def by_family() -> dict[str, list[Rule[Any]]]:
    """The rules of each family that has any."""
    exported = [rule for topic in TOPICS for rule in topic.RULES]
    found = {family: [r for r in exported if r.page.family == family] for family in FAMILIES}
    return {family: rules for family, rules in found.items() if rules}


RULES: dict[str, Rule[Any]] = {rule.slug: rule for rules in by_family().values() for rule in rules}
