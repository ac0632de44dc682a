"""What each network is, from what it does: target, critic, actor, trunk, temperature. Names play no part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whygrad.flow.comparisons import Comparisons
from whygrad.flow.few import few_per_line
from whygrad.flow.gradient_map import groups
from whygrad.flow.paths import living_values
from whygrad.flow.scores import is_probability, is_score
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Kind, Op, Role, Site
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
        ):
            hits = [known[k] for k in sorted(keys) if k in known]
            if len(hits) == len(keys) or (hits and role == "target"):
                found.append(Role(network, role, hits[0][0], hits[0][1]))
                break
        else:
            found += _heads(network, keys, actors, critics)
    return tuple(found)


def _heads(network: str, keys: Iterable[int], actors: Found, critics: Found) -> Iterator[Role]:
    """A network that is an actor, or a critic, or both with a head for each."""
    acts = [actors[k] for k in sorted(keys) if k in actors]
    values = [critics[k] for k in sorted(keys) if k in critics]
    if acts and values:
        yield Role(network, "actor and critic", f"{acts[0][0]}, and another head {values[0][0]}", acts[0][1])
    elif acts and len(acts) == len(list(keys)):
        yield Role(network, "actor", *acts[0])
    elif values:
        yield Role(network, "critic", *values[0])


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
        for op, keys in _baselines(situation, backward):
            text = f"is regressed on returns at {place(op.site)}"
            found.update((key, (text, op.site)) for key in keys if key not in found)
    return found


def _baselines(situation: Situation, backward: Backward) -> Iterator[tuple[Op, frozenset[int]]]:
    """Values, one for each state, that are compared with data beside the log-probabilities of a policy."""
    flow, living = backward.flow, situation.living(backward)
    if not any(_is_log_probability(b, b.flow[n]) for b in situation.backwards for n in situation.living(b)):
        return  # a network that imitates is compared with data, too
    comparisons = Comparisons(flow, living)
    for op in few_per_line(flow[number] for number in sorted(living)):
        compared = comparisons.at(op)
        if compared is None or compared.prediction.shape[1:] not in ((), (1,)):
            continue
        yield op, _behind(backward, compared.prediction.id) & backward.applied


def _actors(situation: Situation, critics: Found) -> Found:
    found: Found = {}
    for backward in situation.backwards:
        living = (backward.flow[n] for n in sorted(situation.living(backward)))
        for op in few_per_line(op for op in living if _is_log_probability(backward, op)):
            for key in _behind(backward, op.id) & backward.applied:
                text = f"its log-probability is in the loss at {place(_loss(backward))}"
                found.setdefault(key, (text, op.site))
        for key in _leading(situation, backward, critics):
            text = f"its output goes into the critic in the loss at {place(_loss(backward))}"
            found.setdefault(key, (text, _loss(backward)))
    return found


def _is_log_probability(backward: Backward, op: Op) -> bool:
    """Where a log-probability begins, or the logarithm of a probability is taken."""
    flow = backward.flow
    if op.kind is Kind.LOG:
        return any(is_probability(flow, i, squashed=True) for i in op.inputs)
    return is_score(op) and not any(is_score(flow[i]) and flow[i].carries for i in op.inputs)


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
