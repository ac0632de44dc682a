"""Target networks that nothing is copied into, or that are copied the wrong way round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from whygrad.flow.roles import Target, pairs
from whygrad.flow.self_copies import onto_itself
from whygrad.flow.situation import Situation
from whygrad.flow.source import assignments_to, is_library
from whygrad.flow.syncs import untaken_sync
from whygrad.model import Confidence, Copy, Mark, Note, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.targets.judge_targets import target_networks
from whygrad.rules.targets.judge_unused import in_losses
from whygrad.rules.targets.target_never_synced import TargetNeverSynced
from whygrad.rules.targets.target_reversed import TargetReversed
from whygrad.rules.words import listed, place

_PART = 0.01  # of the weights that a sync makes more or less of
_MANY = 100  # updates after which a sync that is made in each episode has come round
_ENOUGH = 5  # updates after which a target network should have moved at least once


@dataclass(frozen=True, slots=True)
class _Still:
    """A target network that has kept its first values while an optimizer has trained the online network."""

    target: Target
    keys: frozenset[int]
    site: Site  # where it was made
    learns: Optimizer
    untaken: Site | None  # a sync that was not seen to run


def never_synced(situation: Situation) -> Iterator[Cause]:
    """The online network learns, and the values of the target network are still its first ones."""
    copied = pairs(situation.evidence.copies)
    for still in _stills(situation, copied):
        if still.untaken is not None:
            continue
        line = onto_itself(still.site.file)
        itself = Site.read(still.site.file, line) if line is not None else None
        yield TargetNeverSynced(
            site=itself or still.site,
            subjects=situation.parameters(still.keys),
            chain=(
                Step.at(still.site, "the target network is made"),
                Step.at(itself, "nothing writes into it again", mark=Mark.HERE),
                Step.at(still.target.site, "the target"),
            ),
            confidence=Confidence.CERTAIN if any(copied.get(k) for k in still.keys) else Confidence.LIKELY,
            optimizer=still.learns.name,
            first_update=1,
            updates=still.learns.steps,
            online=_online(situation, still),
        )


def unreached_syncs(situation: Situation) -> Iterator[Note]:
    """A sync that is written and did not run, or was not seen to: no fault, and nothing that was judged."""
    for still in _stills(situation, pairs(situation.evidence.copies)):
        if still.untaken is not None and still.untaken.line:
            site = still.untaken
            names = listed(_networks(situation, still.keys))
            text = (
                f"the sync at {place(site)} was not reached, or not seen, in {still.learns.steps:,} updates: "
                f"{names} still {'has' if ' and ' not in names else 'have'} the first weights"
            )
            yield Note(text, site, "doubt")


def left_behind(situation: Situation) -> Iterator[Note]:
    """Of several target networks some are synced while others train; of one no sync was seen since then."""
    started = min((u.time for u in situation.evidence.updates), default=0)
    known, told = situation.evidence.parameters, set[str]()
    standing = {k for still in _stills(situation, pairs(situation.evidence.copies)) for k in still.keys}
    for target in target_networks(situation):
        networks: dict[str, set[int]] = {}
        for key in target.keys & known.keys() - situation.holders.keys() - standing:
            networks.setdefault(known[key].network, set()).add(key)
        last: dict[str, list[Copy]] = {
            name: [c for c in situation.evidence.copies if c.target in keys and c.source in situation.holders]
            for name, keys in networks.items()
        }
        synced = [c for copies in last.values() for c in copies if c.last > started and c.factor != 0]
        for name, copies in last.items():
            before = copies and all(c.last <= started for c in copies)
            if synced and before and name not in told:
                told.add(name)
                site = next((c.site for c in reversed(copies) if c.site is not None), None)
                yield Note(
                    f"no sync of {name} was seen since the first update, while {place(synced[-1].site)} "
                    f"syncs {known[synced[-1].target].network}",
                    site,
                    "doubt",
                )


def unplaced_copies(situation: Situation) -> Iterator[Note]:
    """A copy that is asked, keeps its first weights and is seen in no loss: its values went through arrays.

    It may be a reference, and it may be a target network: nobody can say from here.
    """
    copied, seen = pairs(situation.evidence.copies), in_losses(situation)
    networks: dict[str, list[Parameter]] = {}
    for parameter in situation.evidence.parameters.values():
        networks.setdefault(parameter.network, []).append(parameter)
    for network, members in networks.items():
        sources = {k for p in members for k in copied.get(p.key, ())} & situation.holders.keys()
        steps = max((o.steps for k in sources for o in situation.holders[k]), default=0)
        still = all(p.used and not p.moved and p.key not in situation.holders for p in members)
        if still and steps >= _ENOUGH and seen.isdisjoint(p.key for p in members):
            online = listed(_networks(situation, sources))
            yield Note(
                f"{network} is asked, is seen in no loss, and has kept its first weights, those of {online}, "
                f"through {steps:,} updates: wrong for a target network",
                members[0].made[0] if members[0].made else None,
                "doubt",
            )


def _stills(situation: Situation, copied: dict[int, set[int]]) -> Iterator[_Still]:
    """Each target network that stands still, once."""
    done: set[int] = set()
    for target in target_networks(situation):
        keys = _standing(situation, target, copied) - done
        learns = [o for o in situation.evidence.optimizers.values() if o.held & target.online]
        most = max(learns, key=lambda o: o.steps, default=None)
        if not keys or most is None or most.steps < _ENOUGH or _copied_since(situation, keys):
            continue
        reverse = any(k in copied.get(o, ()) for k in keys for o in situation.holders)
        site = _home(situation.parameters(keys), situation.parameters(target.online))
        if not reverse and site is not None:
            done |= keys
            untaken = _untaken(situation, site) or _due_again(situation, keys, most)
            yield _Still(target, keys, site, most, untaken)


def _due_again(situation: Situation, keys: frozenset[int], learns: Optimizer) -> Site | None:
    """A sync that ran more than once before the first update, and not in the few since then."""
    if learns.steps >= _MANY:
        return None
    lines: dict[Site, list[Copy]] = {}
    for copy in situation.evidence.copies:
        if copy.target in keys and copy.site is not None and copy.factor != 0:
            lines.setdefault(copy.site, []).append(copy)
    for site, copies in lines.items():
        if any(c.times > 1 for c in copies) or len({(c.target, c.callers) for c in copies}) > len(
            {c.target for c in copies}
        ):
            return site
    return None


def _copied_since(situation: Situation, keys: frozenset[int]) -> bool:
    """Was it synced after all, from a network that does not change either?"""
    started = min((u.time for u in situation.evidence.updates), default=0)
    return any(c.target in keys and c.last > started and c.factor != 0 for c in situation.evidence.copies)


def _standing(situation: Situation, target: Target, copied: dict[int, set[int]]) -> frozenset[int]:
    """The networks of a target that have kept their first values.

    Where others of them are synced, only one that was copied from a trained network should be, too.
    """
    known = situation.evidence.parameters
    networks: dict[str, list[int]] = {}
    for key in target.keys:
        if key in known:
            networks.setdefault(known[key].network, []).append(key)
    others = target.keys & known.keys() - situation.holders.keys()  # a policy in there is trained, not synced
    moving = any(known[k].moved for k in others)
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


def _untaken(situation: Situation, made: Site) -> Site | None:
    """A sync that was not seen to run, where the network is made or where it is trained from.

    Its line is 0 where a source cannot be read: then nothing can be said.
    """
    for file in dict.fromkeys((made.file, *_files(situation))):
        sites = [s for c in situation.evidence.copies for s in (c.site, *c.callers)]
        copies = (site for site in sites if site is not None)
        seen = {site.line for site in copies if site.file == file}
        seen |= {made.line} if file == made.file else set()
        line = untaken_sync(file, frozenset(seen), _optimizers(situation))
        if line is not None:
            return Site.read(file, line)
    return None


def _files(situation: Situation) -> list[str]:
    """The files that training goes through, from the loss outwards.

    Where the user's own loop steps, it is for this loop to call a sync that a library offers.
    """
    roots = [b.flow[root] for b in situation.backwards[-1:] for root in b.roots]
    sites = [site for op in roots for site in (op.site, *op.callers)]
    steps = [u.site for u in situation.evidence.updates[-1:] if u.site is not None]
    files = dict.fromkeys(site.file for site in (*sites, *steps) if site is not None)
    theirs = [site.file for site in steps if not is_library(site.file)]
    return [file for file in files if not theirs or not is_library(file)]


def reversed_syncs(situation: Situation) -> Iterator[Cause]:
    """Weights go from the target into the online network, or in the wrong proportion."""
    found: dict[Site | None, tuple[TargetReversed, set[int]]] = {}
    for target in target_networks(situation):
        for copy in situation.evidence.copies:
            wrong = _overwriting(situation, target, copy) or _swapped(situation, target, copy)
            if wrong is not None:
                found.setdefault(wrong.site, (wrong, set()))[1].add(copy.target)
    for cause, keys in found.values():
        yield replace(cause, subjects=situation.parameters(keys))


def _overwriting(situation: Situation, target: Target, copy: Copy) -> TargetReversed | None:
    """Since training began, weights of the target were written into what an optimizer holds."""
    given = copy.source in target.keys - situation.holders.keys()
    started = min((u.time for u in situation.evidence.updates), default=0)
    if not given or copy.target not in situation.holders or copy.last <= started:
        return None
    site = _sync_site(situation, copy)
    return TargetReversed(
        site=site,
        chain=(Step.at(site, "the sync", mark=Mark.HERE),),
        first_update=1,
        online=_network(situation, copy.target),
        target=_network(situation, copy.source),
    )


def _swapped(situation: Situation, target: Target, copy: Copy) -> TargetReversed | None:
    """A soft update that takes the large part of the online network and keeps the small one."""
    if copy.target not in target.keys or copy.source not in situation.holders:
        return None
    if copy.factor is None or copy.own is None or copy.how == "deepcopy":
        return None
    whole = abs(copy.factor + copy.own - 1) < 1e-6
    lost = copy.times > 1 and copy.factor != 0 and abs(copy.factor + copy.own - 1) > _PART
    if not lost and not (whole and 0.5 < copy.factor < 1 and 0 < copy.own < 0.5):
        return None
    return TargetReversed(
        site=copy.site,
        chain=(Step.at(copy.site, "the sync", mark=Mark.HERE),),
        confidence=Confidence.LIKELY,
        first_update=1,
        online=_network(situation, copy.source),
        target=_network(situation, copy.target),
        taken=copy.factor,
        kept=copy.own if lost else None,
    )


def _sync_site(situation: Situation, copy: Copy) -> Site | None:
    """The sync; where a helper syncs other networks the right way, the line that calls it for these."""
    same = [c for c in situation.evidence.copies if c.site == copy.site and c.callers != copy.callers]
    right: list[object] = [
        c for c in same if c.source in situation.holders and c.target not in situation.holders
    ]
    inside = copy.site.function if copy.site else ""
    callers = [c for c in copy.callers if c.function not in (inside, "loop_body", "if_body", "else_body")]
    helper = copy.callers[0].function if inside in ("loop_body", "if_body") and copy.callers else inside
    callers = [c for c in callers if c.function != helper]
    home = {u.site.file for u in situation.evidence.updates if u.site is not None}
    if copy.site is not None and copy.site.file not in home:  # a helper of another file, for anybody's use
        right = right or [c for c in callers if c.file in home]
        callers = [c for c in callers if c.file in home] or callers
    return callers[0] if right and callers else copy.site


def _home(parameters: tuple[Parameter, ...], online: tuple[Parameter, ...]) -> Site | None:
    """The line that made a network and gave it its name."""
    for part in reversed(_own_name(parameters, online).split(".")):  # a library may make it inside of its own
        name = part.partition("[")[0]
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


def _online(situation: Situation, still: _Still) -> tuple[str, ...]:
    """The networks that learn; where an agent is itself a model, the part of it that does."""
    online, own = situation.parameters(still.target.online), situation.parameters(still.keys)
    names = tuple(dict.fromkeys(p.network for p in online))
    return (_own_name(online, own),) if names and names == (own[0].network,) else names


def _networks(situation: Situation, keys: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.network for p in situation.parameters(keys)))


def _network(situation: Situation, key: int) -> str:
    return situation.evidence.parameters[key].network if key in situation.evidence.parameters else ""
