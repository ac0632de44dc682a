"""What each network is, from what it does: target, critic, actor, trunk, temperature. Names play no part."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.few import few_per_line
from whygrad.flow.gradient_map import groups
from whygrad.flow.paths import living_values
from whygrad.flow.scores import is_score
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Role, Site
from whygrad.rules.targets.judge_targets import target_networks
from whygrad.rules.words import place

Found = dict[int, tuple[str, Site | None]]


def roles(situation: Situation) -> tuple[Role, ...]:
    """One role per network that has one."""
    targets, critics = _targets(situation), _critics(situation)
    actors, temperatures = _actors(situation, critics), _temperatures(situation)
    found: list[Role] = []
    members = {*targets, *critics, *actors, *temperatures}
    for network, keys in groups(situation.evidence, members).items():
        for role, known in (
            ("temperature", temperatures),
            ("target", targets),
            ("trunk", {k: v for k, v in actors.items() if k in critics}),
            ("actor", actors),
            ("critic", critics),
        ):
            hits = [known[k] for k in sorted(keys) if k in known]
            if len(hits) == len(keys) or (hits and role in ("target", "critic")):
                found.append(Role(network, role, hits[0][0], hits[0][1]))
                break
    return tuple(found)


def _targets(situation: Situation) -> Found:
    copied = {c.target: c for c in situation.evidence.copies}
    found: Found = {}
    for target in target_networks(situation):
        for key in target.keys - situation.holders.keys():
            copy = copied.get(key)
            source = situation.evidence.parameters.get(copy.source) if copy else None
            followed = f", and is copied from {source.network}" if source else ""
            followed += f" at {place(copy.site)}" if followed and copy and copy.site else ""
            found[key] = (f"gives the bootstrap value at {place(target.site)}{followed}", target.site)
    return found


def _critics(situation: Situation) -> Found:
    found: Found = {}
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward):
            for prediction in boot.predictions:
                for key in situation.parts(backward).behind(prediction.op) & backward.applied:
                    text = f"is regressed on the bootstrap target at {place(boot.meets.site)}"
                    found.setdefault(key, (text, boot.residual.site))
    return found


def _actors(situation: Situation, critics: Found) -> Found:
    found: Found = {}
    for backward in situation.backwards:
        for op in few_per_line(backward.flow[n] for n in situation.living(backward)):
            if is_score(op) and not any(is_score(backward.flow[i]) for i in op.inputs):
                for key in _behind(backward, op.id) & backward.applied:
                    text = f"its log-probability is in the loss at {place(_loss(backward))}"
                    found.setdefault(key, (text, op.site))
        for key in _leading(situation, backward, critics):
            text = f"its output goes into the critic in the loss at {place(_loss(backward))}"
            found.setdefault(key, (text, _loss(backward)))
    return found


def _leading(situation: Situation, backward: Backward, critics: Found) -> Iterator[int]:
    """What stands before a critic and is trained through it."""
    for op in few_per_line(backward.flow[n] for n in situation.living(backward)):
        if any(backward.flow.parameter(i) in critics for i in op.inputs):
            for i in op.inputs:
                if backward.flow.parameter(i) is None and backward.flow[i].carries:
                    yield from (_behind(backward, i) & backward.applied) - critics.keys()


def _temperatures(situation: Situation) -> Found:
    """A lone number that is trained: the weight of an entropy."""
    found: Found = {}
    for key, parameter in situation.evidence.parameters.items():
        lone = parameter.network == parameter.name and parameter.shape in ((), (1,))
        if lone and parameter.trained and key in situation.holders:
            site = parameter.made[0] if parameter.made else None
            found[key] = ("is a single trained number with a loss of its own", site)
    return found


def _behind(backward: Backward, op: int) -> frozenset[int]:
    values = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in values if k is not None)


def _loss(backward: Backward) -> Site | None:
    return backward.flow[backward.roots[0]].site if backward.roots else backward.site
