"""``Variable(loss, requires_grad=True)``: what is differentiated is a new leaf, and not the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from whygrad.flow.array_names import given
from whygrad.flow.situation import Situation
from whygrad.flow.source import scope_of, statement_at, tree
from whygrad.model import Backward, Mark, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.paths.loss_independent import LossIndependent
from whygrad.rules.stepping.fake_root import FakeRoot


def leaf_roots(situation: Situation, found: Iterable[Cause]) -> list[Cause]:
    """The same causes; a loss that nothing stands behind, since it is a leaf, goes by that name."""
    return [_pretence(situation, cause) or cause for cause in found]


def _pretence(situation: Situation, cause: Cause) -> Cause | None:
    optimizers = situation.evidence.optimizers.values()
    optimizer = next((o for o in optimizers if o.name == cause.optimizer), None)
    if optimizer is None or not isinstance(cause, LossIndependent):
        return None
    backwards = [b for u in situation.updates(optimizer) for b in u.backwards]
    if not backwards or not all(_is_leaf(situation, b) for b in backwards):
        return None
    site = _made(backwards[-1].site) or backwards[-1].site
    return FakeRoot(
        site=site,
        subjects=cause.subjects,
        chain=(
            *cause.chain[:1],
            Step.at(site, "a new leaf", mark=Mark.CUT),
            Step.at(backwards[-1].site, "backward"),
        ),
        optimizer=cause.optimizer,
        loss=site,
        first_update=cause.first_update,
        updates=cause.updates,
    )


def _is_leaf(situation: Situation, backward: Backward) -> bool:
    """Is it a tensor without history that was told to ask for gradient, and nobody's parameter?"""
    roots = [backward.flow[number] for number in backward.roots]
    keys = [op.parameter for op in roots if op.parameter is not None]
    held = any(key in situation.holders for key in keys)
    return bool(roots) and len(keys) == len(roots) and not held


def _made(site: Site | None) -> Site | None:
    """The line that gave its value to what ``backward`` is called on."""
    module = tree(site.file) if site is not None else None
    statement = statement_at(site.file, site.line) if site is not None else None
    if site is None or module is None or statement is None:
        return None
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    for called in calls:
        asked = isinstance(called, ast.Attribute) and called.attr == "backward"
        if asked and isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            values = given(scope_of(module, site.line), called.value.id, site.line)
            return Site.read(site.file, values[-1].line, site.function) if values else None
    return None
