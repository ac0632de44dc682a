"""Bootstrap targets: differentiated, or made by a network that is not what it should be."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.paths import living_values
from whygrad.flow.roles import Target, pairs, targets
from whygrad.flow.source import assignments_to
from whygrad.flow.syncs import called_names, names_only, untaken_sync
from whygrad.model import Alias, Backward, Confidence, Copy, Optimizer, Parameter, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause

_NEAR = 12  # operations between a network and what is taken of its output
_ENOUGH = 5  # updates after which a target network should have moved at least once


def leaks(situation: Situation) -> Iterator[Cause]:
    """The target of a regression is differentiated, down to parameters that somebody trains."""
    found: dict[Site | None, tuple[Backward, Bootstrap, frozenset[int], bool]] = {}
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward) if not backward.error else ():
            if not boot.value.live:
                continue
            reached = _living(backward, boot.value.op)
            if backward.tape:
                reached &= backward.wanted  # a tape computes nothing that it was not asked for
            applied = reached & backward.applied
            known = found.get(boot.meets.site)
            if applied or (reached - situation.holders.keys() and known is None):
                found[boot.meets.site] = (backward, boot, applied or reached, bool(applied))
    for site, (backward, boot, keys, harmful) in found.items():
        yield _leak(situation, site, backward, boot, keys, harmful)


def _living(backward: Backward, op: int) -> frozenset[int]:
    values = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in values if k is not None)


def _leak(
    situation: Situation,
    site: Site | None,
    backward: Backward,
    boot: Bootstrap,
    keys: frozenset[int],
    harmful: bool,
) -> Cause:
    value = backward.flow[boot.value.op].site
    cut = not any(p.live for p in boot.predictions)
    steps = (
        Step(value.code if value else "the value of the next state", value),
        Step(site.code if site else "the target", site, cut=True),
        Step(boot.residual.site.code if boot.residual.site else boot.residual.name, boot.residual.site),
    )
    optimizer = next((o for o in situation.evidence.optimizers.values() if o.held & keys), None)
    return Cause(
        "target-leak",
        site,
        situation.parameters(keys),
        steps,
        {"harmless": "" if harmful else "yes", "prediction_cut": "yes" if cut else ""},
        severity=Severity.ERROR if harmful else Severity.NOTE,
        optimizer=optimizer.name if optimizer else "",
        loss=boot.residual.site,
        first_update=1,
        updates=optimizer.steps if optimizer else 0,
    )


def target_networks(situation: Situation) -> list[Target]:
    """The networks that bootstrap values come from and that are not regressed on them themselves."""
    backwards = [b for b in situation.backwards if not b.error]
    return targets((situation.parts(b), boot) for b in backwards for boot in situation.bootstraps(b))


def in_optimizer(situation: Situation) -> Iterator[Cause]:
    """An optimizer holds what is copied from an online network to compute targets with."""
    copied = pairs(situation.evidence.copies)
    for optimizer in situation.evidence.optimizers.values():
        keys: set[int] = set()
        if not optimizer.steps:
            continue  # made with the network, and never used
        for target in target_networks(situation):
            for key in target.keys & optimizer.held:
                sources = copied.get(key, set())
                if sources & target.online or any(s in situation.holders for s in sources):
                    keys.add(key)
        given = {other for u in situation.updates(optimizer) for other, _ in u.crossed}  # by mistake
        keys = {k for k in keys - given if situation.evidence.parameters[k].trainable}
        silent = situation.evidence.always_absent.get(optimizer.key, frozenset())
        moved = keys - silent  # without a gradient, a step passes a parameter by
        if keys:
            site = _list_site(situation, optimizer)
            yield Cause(
                "target-in-optimizer",
                site,
                situation.parameters(moved or keys),
                (Step(site.code if site else f"{optimizer.name} is made", site, cut=True),),
                {"optimizer": optimizer.name, "harmless": "" if moved else "yes"},
                severity=Severity.ERROR if moved else Severity.NOTE,
                optimizer=optimizer.name,
                first_update=1,
                updates=optimizer.steps,
            )


def _list_site(situation: Situation, optimizer: Optimizer) -> Site | None:
    """Where an optimizer is told what to train: when it is made, or with each step."""
    updates = situation.updates(optimizer)
    given = [u.site for u in updates if any(b.tape for b in u.backwards)]
    return given[-1] if given else optimizer.made


def never_synced(situation: Situation) -> Iterator[Cause]:
    """The online network learns, and the values of the target network are still its first ones."""
    copied = pairs(situation.evidence.copies)
    done: set[int] = set()
    for target in target_networks(situation):
        keys = _standing(situation, target, copied) - done
        learns = [o for o in situation.evidence.optimizers.values() if o.held & target.online]
        steps = max((o.steps for o in learns), default=0)
        if not keys or steps < _ENOUGH or _copied_since(situation, keys):
            continue
        reverse = any(k in copied.get(o, ()) for k in keys for o in situation.holders)
        site = _home(situation.parameters(keys), situation.parameters(target.online))
        taken = _lines(situation), _optimizers(situation)
        if reverse or site is None or untaken_sync(site.file, site.line, *taken):
            continue
        done |= keys
        yield Cause(
            "target-never-synced",
            site,
            situation.parameters(keys),
            (
                Step(site.code, site),
                Step("nothing writes into it again", None, cut=True),
                Step(target.site.code if target.site else "the target", target.site),
            ),
            {"online": _networks(situation, target.online), "updates": str(steps)},
            confidence=Confidence.CERTAIN if any(copied.get(k) for k in keys) else Confidence.LIKELY,
            optimizer=learns[0].name,
            first_update=1,
            updates=steps,
        )


def _copied_since(situation: Situation, keys: frozenset[int]) -> bool:
    """Was it synced after all, from a network that does not change either?"""
    started = min((u.time for u in situation.evidence.updates), default=0)
    return any(c.target in keys and c.last > started for c in situation.evidence.copies)


def _standing(situation: Situation, target: Target, copied: dict[int, set[int]]) -> frozenset[int]:
    """The networks of a target that have kept their first values.

    Where others of them are synced, only one that was copied from a trained network should be, too.
    """
    known = situation.evidence.parameters
    networks: dict[str, list[int]] = {}
    for key in target.keys:
        if key in known:
            networks.setdefault(known[key].network, []).append(key)
    moving = any(known[k].moved for keys in networks.values() for k in keys)
    found: set[int] = set()
    for keys in networks.values():
        still = not any(known[k].moved or k in situation.holders for k in keys)
        follows = all(copied.get(k, set()) & situation.holders.keys() for k in keys)
        if still and (follows or not moving):
            found.update(keys)
    return frozenset(found)


def _optimizers(situation: Situation) -> frozenset[str]:
    """What the optimizers are called, without whose they are."""
    return frozenset(o.name.rpartition(".")[2] for o in situation.evidence.optimizers.values())


def _lines(situation: Situation) -> frozenset[int]:
    return frozenset(c.site.line for c in situation.evidence.copies if c.site is not None)


def reversed_syncs(situation: Situation) -> Iterator[Cause]:
    """Weights go from the target into the online network, or in the wrong proportion."""
    found: dict[Site | None, list[tuple[Copy, str]]] = {}
    for target in target_networks(situation):
        for copy in situation.evidence.copies:
            kind = _reversal(situation, target, copy)
            if kind:
                found.setdefault(_sync_site(situation, copy, kind), []).append((copy, kind))
    for site, wrong in found.items():
        keys = {copy.target for copy, _ in wrong}
        copy, kind = wrong[0]
        online, target_name = (
            _networks(situation, {copy.target if kind == "direction" else copy.source}),
            _networks(situation, {copy.source if kind == "direction" else copy.target}),
        )
        details = {"kind": kind, "online": online, "target": target_name}
        details["factor"] = f"{copy.factor:g}" if copy.factor is not None else ""
        yield Cause(
            "target-reversed",
            site,
            situation.parameters(keys),
            (Step(site.code if site else "the sync", site, cut=True),),
            details,
            confidence=Confidence.CERTAIN if kind == "direction" else Confidence.LIKELY,
            first_update=1,
        )


def _sync_site(situation: Situation, copy: Copy, kind: str) -> Site | None:
    """The sync; where a helper syncs other networks the right way, the line that calls it for these."""
    same = [c for c in situation.evidence.copies if c.site == copy.site and c.callers != copy.callers]
    right = [c for c in same if c.source in situation.holders and c.target not in situation.holders]
    inside = copy.site.function if copy.site else ""
    callers = [c for c in copy.callers if c.function not in (inside, "loop_body", "if_body", "else_body")]
    helper = copy.callers[0].function if inside in ("loop_body", "if_body") and copy.callers else inside
    callers = [c for c in callers if c.function != helper]
    return callers[0] if kind == "direction" and right and callers else copy.site


def _reversal(situation: Situation, target: Target, copy: Copy) -> str:
    trained = copy.target in situation.holders
    if copy.source in target.keys - situation.holders.keys() and trained:
        started = min((u.time for u in situation.evidence.updates), default=0)
        return "direction" if copy.last > started else ""
    actors = copy.target in target.keys and copy.source in situation.holders
    if actors and copy.factor is not None and copy.own is not None and copy.how != "deepcopy":
        swapped = 0.5 < copy.factor < 1 and 0 < copy.own < 0.5 and abs(copy.factor + copy.own - 1) < 1e-6
        return "proportion" if swapped else ""
    return ""


def aliases(situation: Situation) -> Iterator[Cause]:
    """The network that gives the targets is, under another name, the one that is trained."""
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward):
            parts = situation.parts(backward)
            online = frozenset(k for p in boot.predictions for k in parts.behind(p.op))
            for alias in situation.evidence.aliases:
                if not alias.parameters or not alias.parameters & parts.behind(boot.value.op) & online:
                    continue
                name = _other_name(backward, boot, alias)
                if name:
                    yield _alias(situation, backward, boot, alias, name)
                    return


def _other_name(backward: Backward, boot: Bootstrap, alias: Alias) -> tuple[str, str] | None:
    """The two names, if the target is computed through one and the prediction through the other."""
    there = _called(backward, [boot.value.op, boot.meets.id])
    here = _called(backward, [p.op for p in boot.predictions])
    names = [(name, name.rpartition(".")[2].partition("[")[0]) for name in alias.names]
    for name, last in names:
        for other, other_last in names:
            if last != other_last and last in there - here and other_last in here - there:
                return name, other
    return None


def _called(backward: Backward, ops: list[int]) -> frozenset[str]:
    near = [n for op in ops for n in _near(backward, op)]
    sites = [s for n in near for s in (backward.flow[n].site, *backward.flow[n].callers) if s is not None]
    home = backward.site
    own = [s for s in sites if home is None or s.file == home.file]
    return frozenset(name for s in own for name in called_names(s.file, s.line))


def _near(backward: Backward, op: int) -> list[int]:
    """A value, and what it was picked from, down to the layer that gave it."""
    found = [op]
    for number in found:
        here = backward.flow[number]
        if len(found) > _NEAR or any(backward.flow.parameter(i) is not None for i in here.inputs):
            break
        found += [i for i in here.inputs[:1] if backward.flow[i].floating and i not in found]
    return found


def _alias(
    situation: Situation, backward: Backward, boot: Bootstrap, alias: Alias, names: tuple[str, str]
) -> Cause:
    site = _assigned(situation, alias, names[0])
    steps = (
        Step(site.code if site else f"{names[0]} is {names[1]}", site, cut=True),
        Step(boot.meets.site.code if boot.meets.site else "the target", boot.meets.site),
    )
    optimizer = next((o for o in situation.evidence.optimizers.values() if o.held & alias.parameters), None)
    return Cause(
        "target-alias",
        site,
        situation.parameters(alias.parameters),
        steps,
        {"target": names[0], "online": names[1]},
        optimizer=optimizer.name if optimizer else "",
        loss=boot.residual.site,
        first_update=1,
        updates=optimizer.steps if optimizer else 0,
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


def _home(parameters: tuple[Parameter, ...], online: tuple[Parameter, ...]) -> Site | None:
    """The line that made a network and gave it its name."""
    name = _own_name(parameters, online).rpartition(".")[2].partition("[")[0]
    for site in parameters[0].made:
        if any(line == site.line for line, _ in assignments_to(site.file, name)):
            return site
    return None


def _own_name(parameters: tuple[Parameter, ...], online: tuple[Parameter, ...]) -> str:
    """What a network is called; if it is in one model with the online network, the part that it is."""
    network = parameters[0].network
    if all(p.network != network for p in online):
        return network
    paths = [p.name.split(".")[:-1] for p in parameters]
    shared = [parts[0] for parts in zip(*paths, strict=False) if len(set(parts)) == 1]
    for depth in range(1, len(shared) + 1):
        name = ".".join(shared[:depth])
        if not any(p.name.startswith(f"{name}.") for p in online):
            return name
    return network


def _networks(situation: Situation, keys: object) -> str:
    return ", ".join(dict.fromkeys(p.network for p in situation.parameters(keys)))
