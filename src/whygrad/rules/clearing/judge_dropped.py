"""A worker computes gradients for a shared network that never gets them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.flow.source import scope_of, statements, tree
from whygrad.model import Backward, Mark, Optimizer, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.clearing.gradient_handover import GradientHandover
from whygrad.rules.dialects import dialect_of

_OFTEN = 2


def dropped(situation: Situation, optimizer: Optimizer) -> Iterator[Cause]:
    """The loss asks copies of a network, fetched anew for each update, and only the network is stepped.

    A loss that asks the wrong one of two networks looks alike, but a target network is synced now and then.
    """
    copies = [c for c in situation.evidence.copies if c.source in optimizer.held and c.factor == 1.0]
    local = frozenset(c.target for c in copies if c.target not in situation.holders)
    updates = situation.updates(optimizer)
    computing = [b for u in updates for b in u.backwards if b.reached & local and not b.error]
    fetched = Counter[int]()
    for copy in copies:
        fetched[copy.source] += copy.times
    asked = any(op.parameter in optimizer.held for b in computing for op in b.flow.ops.values())
    if asked or len(computing) < _OFTEN or min(fetched.values(), default=0) < len(updates):
        return
    site = _read_only(computing[-1].site) or updates[-1].site
    yield _cause(situation, optimizer, site, computing[-1], local)


def _read_only(site: Site | None) -> Site | None:
    """The one line around ``backward`` that reads gradients by hand: ``grad = local.grad``."""
    module = tree(site.file) if site is not None else None
    if site is None or module is None:
        return None
    reads = {
        node.lineno
        for statement in statements(scope_of(module, site.line))
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr in ("grad", "_grad")
        if isinstance(node.ctx, ast.Load)
    }
    return Site.read(site.file, reads.pop()) if len(reads) == 1 else None


def _cause(
    situation: Situation, optimizer: Optimizer, site: Site | None, backward: Backward, local: frozenset[int]
) -> Cause:
    here = dialect_of(situation.evidence.framework)
    workers = situation.parameters(local & backward.reached)
    return GradientHandover(
        site=site,
        subjects=situation.parameters(optimizer.held),
        chain=(
            Step.at(backward.site, here.differentiate),
            Step.at(site, "no gradient is handed over", mark=Mark.LOST),
        ),
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
        fate="dropped",
        local=workers[0].network if workers else "",
        backward=backward.site,
    )
