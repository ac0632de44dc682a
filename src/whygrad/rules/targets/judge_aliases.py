"""Target networks that are the online network under another name."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.source import assignments_to
from whygrad.flow.syncs import called_names, names_only, synced_names
from whygrad.model import Alias, Flow, Mark, Site, Step
from whygrad.model.events import SHARED
from whygrad.model.kinds import EXTREMES
from whygrad.rules.cause import Cause
from whygrad.rules.stepped import stepped
from whygrad.rules.targets.judge_targets import predicting, target_networks
from whygrad.rules.targets.target_alias import TargetAlias

_NEAR = 12  # operations between a network and what is taken of its output


def aliases(situation: Situation) -> Iterator[Cause]:
    """The network that gives the targets is, under another name, the one that is trained."""
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward):
            parts = situation.parts(backward)
            online = predicting(situation, backward, boot)
            for alias in situation.evidence.aliases:
                asked = alias.parameters & parts.behind(boot.value.op)
                if not asked:
                    continue
                if asked & online:
                    names = _other_name(parts.flow, backward.site, boot, alias)
                else:
                    names = _synced_name(situation, parts.flow, backward.site, boot, alias)
                if names:
                    yield _alias(situation, boot, alias, *names)
                    return


def rebound(situation: Situation) -> Iterator[Cause]:
    """``target = online`` where a copy belongs: only the first targets came from another network."""
    first: dict[Site | None, frozenset[int]] = {}
    later: dict[Site | None, tuple[Bootstrap, frozenset[int], frozenset[str]]] = {}
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward):
            parts = situation.parts(backward)
            value = parts.behind(boot.value.op)
            online = predicting(situation, backward, boot)
            site = parts.flow[boot.value.op].site
            if value and value.isdisjoint(situation.holders):
                first.setdefault(site, value)
                later.pop(site, None)  # it is one of its own again
            elif value and value <= online and site in first:
                names = _called(parts.flow, backward.site, [boot.value.op, boot.meets.id])
                later.setdefault(site, (boot, online, names))
    known = situation.evidence.parameters
    for site, (boot, online, names) in later.items():
        lines = {n: assignments_to(site.file, n) for n in names} if site is not None else {}
        plain = [(n, x) for n, found in lines.items() for x in found if site and names_only(site.file, x[0])]
        if len(plain) == 1 and site is not None:
            name, place = plain[0]
            written = Site.read(site.file, *place)
            networks = {known[k].network for k in online if k in known}
            yield TargetAlias(
                site=written,
                chain=(
                    Step.at(written, f"{name} is the online network from here on", mark=Mark.HERE),
                    Step.at(boot.meets.site, "the target"),
                ),
                loss=boot.residual.site,
                target=name,
                online=min(networks, default=""),
                later=True,
                **stepped(situation, online),
            )


def in_one_place(situation: Situation) -> Iterator[Cause]:
    """``target.data = param.data``: two networks, and one memory."""
    done: set[Site | None] = set()
    for target in target_networks(situation):
        for copy in situation.evidence.copies:
            given = copy.target in target.keys and copy.source in situation.holders
            if copy.how == SHARED and given and copy.site not in done:
                done.add(copy.site)
                known = situation.evidence.parameters
                names = known[copy.target].network, known[copy.source].network
                yield TargetAlias(
                    site=copy.site,
                    chain=(
                        Step.at(copy.site, f"{names[0]} gets the memory of {names[1]}", mark=Mark.HERE),
                        Step.at(target.site, "the target"),
                    ),
                    target=names[0],
                    online=names[1],
                    memory=True,
                    **stepped(situation, frozenset((copy.source,))),
                )


def _other_name(flow: Flow, home: Site | None, boot: Bootstrap, alias: Alias) -> tuple[str, str] | None:
    """The two names, if the target is computed through one and the prediction through the other."""
    there = _called(flow, home, [boot.value.op, boot.meets.id])
    here = _called(flow, home, [p.op for p in boot.predictions])
    names = [(name, name.rpartition(".")[2].partition("[")[0]) for name in alias.names]
    for name, last in names:
        for other, other_last in names:
            if last != other_last and last in there - here and other_last in here - there:
                return name, other
    return None


def _synced_name(
    situation: Situation, flow: Flow, home: Site | None, boot: Bootstrap, alias: Alias
) -> tuple[str, str] | None:
    """An actor in the target by its second name, which the source syncs with its first: with itself."""
    if not alias.parameters & situation.holders.keys() or home is None:
        return None
    value = [
        n
        for n in ancestors(flow, boot.value.op)
        if any(flow.parameter(i) in alias.parameters for i in flow[n].inputs)
    ]
    there = _called(flow, home, [boot.meets.id, *value])
    names = [(name, name.rpartition(".")[2].partition("[")[0]) for name in alias.names]
    for name, last in names:
        for other, other_last in names:
            if last in there and other_last not in there and synced_names(home.file, last, other_last):
                return name, other
    return None


def _called(flow: Flow, home: Site | None, ops: list[int]) -> frozenset[str]:
    near = [n for op in ops for n in _near(flow, op)]
    sites = [s for n in near for s in (flow[n].site, *flow[n].callers) if s is not None]
    own = [s for s in sites if home is None or s.file == home.file]
    return frozenset(name for s in own for name in called_names(s.file, s.line))


def _near(flow: Flow, op: int) -> list[int]:
    """A value, and what it was picked from, down to the layer that gave it."""
    found = [op]
    for number in found:
        here = flow[number]
        if len(found) > _NEAR or any(flow.parameter(i) is not None for i in here.inputs):
            break
        taken = here.inputs if here.kind in EXTREMES else here.inputs[:1]
        found += [i for i in taken if flow[i].floating and i not in found]
    return found


def _alias(situation: Situation, boot: Bootstrap, alias: Alias, target: str, online: str) -> Cause:
    site = _assigned(situation, alias, target)
    return TargetAlias(
        site=site,
        chain=(
            Step.at(site, f"{target} is {online}", mark=Mark.HERE),
            Step.at(boot.meets.site, "the target"),
        ),
        loss=boot.residual.site,
        target=target,
        online=online,
        **stepped(situation, alias.parameters),
    )


def _assigned(situation: Situation, alias: Alias, name: str) -> Site | None:
    last = name.rpartition(".")[2].partition("[")[0]
    files = dict.fromkeys(
        s.file
        for s in (
            *(o.made for o in situation.evidence.optimizers.values()),
            *(s for p in situation.parameters(alias.parameters) for s in p.made),
            *(u.site for u in situation.evidence.updates),
        )
        if s is not None
    )
    for file in files:
        lines = assignments_to(file, last)
        plain = [found for found in lines if names_only(file, found[0])]
        if lines:
            return Site.read(file, *(plain or lines)[0])
    return None
