"""Frozen layers inside of a network that learns, which no list of variables has any more."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Mark, Parameter, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.frozen import Frozen


def frozen_parts(situation: Situation) -> Iterator[Cause]:
    """Layers at their random start, beside layers of the same network that are trained.

    A part that was loaded, or trained before, rests on purpose.
    """
    groups: dict[Site | None, list[Parameter]] = {}
    for parameter in situation.evidence.parameters.values():
        if parameter.key not in situation.holders and _at_its_start(situation, parameter):
            groups.setdefault(parameter.frozen_at, []).append(parameter)
    for site, members in groups.items():
        siblings = [p for p in members if _trained_around(situation, p)]
        if siblings:
            yield _cause(situation, site, tuple(siblings))


def _at_its_start(situation: Situation, parameter: Parameter) -> bool:
    """Frozen by a line that was seen, used, and never given other values than those it was made with."""
    given = parameter.trained or parameter.loaded or parameter.written or bool(parameter.copy_of)
    frozen = not parameter.trainable and parameter.frozen_at is not None and parameter.used
    return (
        frozen and not given and not situation.is_copy(parameter.key) and not _statistic(situation, parameter)
    )


def _statistic(situation: Situation, parameter: Parameter) -> bool:
    """Made without gradients by a layer, as moving averages are: no word of it in the user's line."""
    keyword, _, _ = dialect_of(situation.evidence.framework).frozen.partition(" = ")
    at = parameter.frozen_at
    return at is not None and at in parameter.made and keyword not in at.code


def _trained_around(situation: Situation, parameter: Parameter) -> bool:
    """Are layers of its network trained that stand before or behind it?

    A fixed random network beside the one that learns to predict it has the loss in common with it, no more.
    """
    known = situation.evidence.parameters
    for backward in situation.backwards:
        around = {k for k in backward.applied if k in known and known[k].network == parameter.network}
        if around and _in_series(situation, backward, parameter.key, around):
            return True
    return False


def _in_series(situation: Situation, backward: Backward, key: int, around: set[int]) -> bool:
    """Does what this parameter computes go through one of those, or come from one?"""
    flow, path = backward.flow, situation.reach(backward).path(key)
    if path is None:
        return False
    behind = (flow.parameter(i) for op in path.ops[2:] for i in op.inputs)
    meets = [op for op in path.ops[1:] if any(flow.parameter(i) is None for i in op.inputs)][:1]
    before = (flow.parameter(i) for op in meets for i in ancestors(flow, op.id))
    return any(k in around for k in behind) or any(k in around for k in before)


def _cause(situation: Situation, site: Site | None, members: tuple[Parameter, ...]) -> Cause:
    around = {p.network for p in members}
    known = situation.evidence.parameters
    held = [o for o in situation.evidence.optimizers.values() if o.steps]
    near = [o for o in held if any(k in known and known[k].network in around for k in o.held)]
    words = dialect_of(situation.evidence.framework)
    first = members[0]
    return Frozen(
        site=site,
        subjects=members,
        chain=(
            Step(first.name, first.made[0] if first.made else None),
            Step(words.frozen, site, mark=Mark.CUT),
        ),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        optimizer=near[0].name if near else "",
        first_update=1,
        updates=near[0].steps if near else 0,
    )
