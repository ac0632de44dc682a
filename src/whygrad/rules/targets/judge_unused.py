"""Target networks that are kept in sync while the online network gives the bootstrap values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.source import assigned_name
from whygrad.flow.syncs import asked_by
from whygrad.model import Backward, Confidence, Copy, Flow, Mark, Parameter, Severity, Step
from whygrad.rules.cause import Cause
from whygrad.rules.stepped import stepped
from whygrad.rules.targets.target_unused import TargetUnused

_UNNAMED = ("(", "a copy of ")  # how a network begins that nobody has met by name


def unused(situation: Situation) -> Iterator[Cause]:
    """Weights go into a network all the time, it is in no loss, and their source gives the values."""
    synced = _synced(situation)
    if not synced:
        return
    asked, valued = in_losses(situation), _valued(situation)
    done: set[str] = set()
    for backward, boot in _bootstraps(situation):
        parts = situation.parts(backward)
        value = parts.behind(boot.value.op)
        for key, copy in synced.items():
            network = _name(situation.evidence.parameters[key])
            if key in valued or copy.source not in value or network in done:
                continue
            keys = [k for k in synced if _name(situation.evidence.parameters[k]) == network]
            if key in asked:
                if key in _made_with(parts.flow, boot.value.op) and valued.isdisjoint(keys):
                    done.add(network)
                    found = _cause(situation, backward, boot, [synced[k] for k in keys], network)
                    yield replace(found, chooses=True, severity=Severity.WARNING)
            elif asked.isdisjoint(keys) and not _asked_in_source(
                situation, network, [synced[k] for k in keys]
            ):
                done.add(network)
                yield _cause(situation, backward, boot, [synced[k] for k in keys], network)


def _cause(
    situation: Situation, backward: Backward, boot: Bootstrap, copies: list[Copy], network: str
) -> TargetUnused:
    value = situation.parts(backward).flow[boot.value.op]
    soft = any(c.own for c in copies)  # nobody blends weights into a copy that is only kept
    sources = frozenset(c.source for c in copies)
    return TargetUnused(
        site=value.site or boot.meets.site,  # the call that asks the wrong network
        chain=(
            Step.at(value.site, "the value of the next state", mark=Mark.HERE),
            Step.at(boot.meets.site, "the target"),
        ),
        severity=Severity.ERROR if soft else Severity.WARNING,
        confidence=Confidence.LIKELY,
        loss=boot.residual.site,
        target=network,
        sync=copies[0].site,
        **stepped(situation, sources),
    )


def _name(parameter: Parameter) -> str:
    """The network that a parameter belongs to; where nobody has met it by name, what it was assigned to."""
    if not parameter.network.startswith(_UNNAMED):
        return parameter.network
    found = (assigned_name(site.file, site.line) for site in parameter.made)
    return next((name for name in found if name), parameter.network)


def _synced(situation: Situation) -> dict[int, Copy]:
    """Parameters that no optimizer holds and that get weights of trained ones again and again."""
    started = min((u.time for u in situation.evidence.updates), default=0)
    known = situation.evidence.parameters
    return {
        c.target: c
        for c in situation.evidence.copies
        if c.last > started and c.factor != 0
        if c.source in situation.holders and c.target not in situation.holders
        if c.target in known
    }


def _bootstraps(situation: Situation) -> Iterator[tuple[Backward, Bootstrap]]:
    for backward in situation.backwards:
        if not backward.error:
            yield from ((backward, boot) for boot in situation.bootstraps(backward))


def in_losses(situation: Situation) -> frozenset[int]:
    """The parameters that any loss was computed with, by whatever way."""
    found: set[int] = set()
    for backward in situation.backwards:
        flow = situation.parts(backward).flow
        found.update(*(_made_with(flow, root) for root in backward.roots))
    return frozenset(found)


def _made_with(flow: Flow, op: int) -> frozenset[int]:
    return frozenset(k for n in ancestors(flow, op) if (k := flow[n].parameter) is not None)


def _valued(situation: Situation) -> frozenset[int]:
    """Those whose numbers are in a loss; one that only chooses an action there is not among them."""
    found: set[int] = set()
    for backward in situation.backwards:
        parts = situation.parts(backward)
        found.update(*(parts.behind(root) for root in backward.roots))
    return frozenset(found)


def _asked_in_source(situation: Situation, network: str, copies: list[Copy]) -> bool:
    """Does the source say that it is asked for something: to act, to be evaluated, in a branch not taken?"""
    lines = {(s.file, s.line) for c in copies for s in (c.site, *c.callers) if s is not None}
    files = dict.fromkeys(s.file for b in situation.backwards for n in b.roots if (s := b.flow[n].site))
    files.update(dict.fromkeys(file for file, _ in lines))
    return any(asked_by(file, network, frozenset(n for f, n in lines if f == file)) for file in files)
