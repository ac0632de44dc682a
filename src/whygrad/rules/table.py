"""The table of all rules: what the files of the topics export as ``RULE``. Nobody lists them by hand."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from whygrad.rules import (
    clearing,
    clipping,
    failing,
    figures,
    losses,
    membership,
    paths,
    ranks,
    stepping,
    targets,
    unexplained,
)
from whygrad.rules.rule import Rule

# In the order in which people read about them; the rules of a topic are in the order of their names.
TOPICS = (
    paths,
    membership,
    stepping,
    targets,
    losses,
    clearing,
    clipping,
    failing,
    ranks,
    figures,
    unexplained,
)

FAMILIES: dict[str, str] = {
    "missing": "a parameter that should learn gets no gradient",
    "wrong": "gradients arrive, but not the ones that the algorithm wants",
    "unhealthy": "gradients arrive and are right, but training suffers",
}


def rules_of(topic: ModuleType) -> list[Rule[Any]]:
    """What the files in this folder export, whatever their order on the disk is."""
    names = sorted(module.name for module in iter_modules(topic.__path__))
    modules = [import_module(f"{topic.__name__}.{name}") for name in names]
    return [module.RULE for module in modules if isinstance(getattr(module, "RULE", None), Rule)]


def by_family() -> dict[str, list[Rule[Any]]]:
    """The rules of each family that has any."""
    exported = [rule for topic in TOPICS for rule in rules_of(topic)]
    found = {family: [r for r in exported if r.page.family == family] for family in FAMILIES}
    return {family: rules for family, rules in found.items() if rules}


RULES: dict[str, Rule[Any]] = {rule.slug: rule for rules in by_family().values() for rule in rules}
