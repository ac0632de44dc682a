"""The rules as a SARIF log describes them, from the same pages as ``whygrad explain``."""

from __future__ import annotations

import re
from typing import Any

from whygrad.reporters.explain import render_rule
from whygrad.rules.pages import page
from whygrad.rules.rule import Rule
from whygrad.rules.table import RULES

INDEX = {slug: n for n, slug in enumerate(RULES)}
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_LONGEST = 1000  # characters of a description; code scanning takes 1024
_LEVELS = {"missing": "error", "wrong": "error", "unhealthy": "warning"}


def rules() -> list[dict[str, Any]]:
    """All of them, in the order of ``INDEX``."""
    return [_rule(rule) for rule in RULES.values()]


def _rule(rule: Rule) -> dict[str, Any]:
    content = rule.page
    level = _LEVELS[content.family]
    return {
        "id": rule.slug,
        "name": "".join(word.capitalize() for word in rule.slug.split("-")),
        "shortDescription": {"text": _plain(f"{content.summary[0].upper()}{content.summary[1:]}.")},
        "fullDescription": {"text": _shortened(_plain(f"{content.what} {content.why}"))},
        "help": {"text": render_rule(rule.slug), "markdown": _COMMENT.sub("", page(content))},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["gradients", "deep-learning", content.family],
            "precision": "high",
            "problem.severity": level,
        },
    }


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition(" ")[0] + " ..."
