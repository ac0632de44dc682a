"""Who trains whom: from the recorded losses to the terms that reach each network."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import sqrt

from whygrad.flow.facts import facts
from whygrad.flow.naming import home, term_names
from whygrad.flow.situation import Situation
from whygrad.flow.terms import Term, terms, written
from whygrad.model import Backward, Evidence, Flow, GradientMap, LossTerm, Optimizer, Parameter, Reached, Site
from whygrad.model.frameworks import FRAMEWORKS

_MOST_TERMS = 8
_NAMED_BY_KERAS = re.compile(r"(dense|conv\w*|lstm|gru|embedding|batch_norm\w*|layer_norm\w*)(_\d+)?$")


def gradient_maps(situation: Situation) -> tuple[GradientMap, ...]:
    """One map per loss that an optimizer steps on."""
    found = []
    for optimizer in situation.evidence.optimizers.values():
        for backwards in _by_line(situation, optimizer).values():
            found.append(_map(situation, optimizer, backwards))
    return tuple(found)


def _by_line(situation: Situation, optimizer: Optimizer) -> dict[Site | None, list[Backward]]:
    """The backwards that this optimizer was meant to step on, by their lines."""
    lines: dict[Site | None, list[Backward]] = {}
    for update in situation.updates(optimizer):
        for backward in update.backwards:
            in_vain = not backward.applied and backward.follower == optimizer.key
            if (backward.applied & optimizer.held or in_vain) and backward.roots and not backward.error:
                lines.setdefault(backward.site, []).append(backward)
    return lines


def _map(situation: Situation, optimizer: Optimizer, backwards: list[Backward]) -> GradientMap:
    evidence = situation.evidence
    shown = next((b for b in reversed(backwards) if b.shares), backwards[-1])
    parts = [t for root in shown.roots for t in terms(shown.flow, root, deep=False) if t.op.carries]
    parts = sorted(distinct(shown.flow, parts), key=lambda t: t.op.time)[:_MOST_TERMS]
    root = shown.flow[shown.roots[0]]
    names = term_names(shown.flow, shown.roots, [t.op for t in parts])
    networks = groups(evidence, shown.reached | optimizer.held)
    norms = _norms(shown, parts, networks)
    zero = _zeros(situation, optimizer, shown) | _dead(situation, optimizer)
    rows = []
    for name, term in zip(names, parts, strict=True):
        living = situation.behind(shown, term.op.id).living()
        cells = [
            Reached(
                group,
                bool(living & keys),
                _share(norms, term, group, parts, bool(keys) and keys <= zero) if living & keys else None,
                _appliers(evidence, shown, keys) if living & keys else (),
            )
            for group, keys in networks.items()
        ]
        rows.append(LossTerm(name, home(term.op), tuple(cells)))
    reasons = [b.unmeasured for b in backwards if b.unmeasured]
    why = "" if shown.shares or len(parts) < 2 else (reasons or ["not measured"])[0]
    return GradientMap(optimizer.name, home(root), tuple(rows), why)


def distinct(flow: Flow, parts: Iterable[Term]) -> list[Term]:
    """Many terms that were written once, in a loop, are one term."""
    all_of_them = list(parts)
    if len(all_of_them) <= _MOST_TERMS:
        return all_of_them
    seen: dict[object, Term] = {}
    for term in all_of_them:
        seen.setdefault(written(flow, term), term)
    return list(seen.values())


def groups(evidence: Evidence, keys: Iterable[int]) -> dict[str, frozenset[int]]:
    """Networks; the parts of a network where the whole run trains only one."""
    known = [evidence.parameters[k] for k in sorted(keys) if k in evidence.parameters]
    held = {k for o in evidence.optimizers.values() for k in o.held} | set(keys)
    single = len({evidence.parameters[k].network for k in held if k in evidence.parameters}) == 1
    found: dict[str, set[int]] = {}
    for parameter in known:
        part = part_of(parameter, evidence.framework) if single else parameter.network
        found.setdefault(part, set()).add(parameter.key)
    return {name: frozenset(members) for name, members in found.items()}


def part_of(parameter: Parameter, framework: str) -> str:
    """``net.pi`` for ``net.pi.0.weight``; a plain stack of layers stays whole."""
    rest = parameter.name.removeprefix(parameter.network).lstrip(".").split(".")
    nobodys = FRAMEWORKS[framework].names_layers and _NAMED_BY_KERAS.match(rest[0])
    if not rest[0] or rest[0].isdigit() or nobodys:
        return parameter.network
    return f"{parameter.network}.{rest[0]}"


def _norms(
    backward: Backward, parts: list[Term], networks: dict[str, frozenset[int]]
) -> dict[tuple[int, str], float]:
    """(term, network) -> the norm of the gradient that the one gives to the other."""
    found = {}
    for term in parts:
        measured = backward.shares.get(term.op.id)
        if measured is not None:
            for group, keys in networks.items():
                found[term.op.id, group] = sqrt(sum(measured.get(k, 0.0) for k in keys))
    return found


def _zeros(situation: Situation, optimizer: Optimizer, backward: Backward) -> frozenset[int]:
    """The parameters whose gradient was exactly zero in the step that this backward led to."""
    led = [
        u.zero for u in situation.updates(optimizer) if any(b.number == backward.number for b in u.backwards)
    ]
    return led[0] if led else frozenset()


def _dead(situation: Situation, optimizer: Optimizer) -> frozenset[int]:
    """The parameters whose gradient was exactly zero whenever somebody looked."""
    known = facts(situation, optimizer)
    return frozenset(key for key, fact in known.items() if fact.looked and not fact.alive)


def _share(
    norms: dict[tuple[int, str], float], term: Term, group: str, parts: list[Term], zero: bool
) -> float | None:
    """Of the gradient that a network gets; nothing comes from nothing."""
    if zero:
        return 0.0
    if len(parts) == 1:
        return 1.0
    total = sum(norms.get((t.op.id, group), 0.0) for t in parts)
    own = norms.get((term.op.id, group))
    return round(own / total, 4) if own is not None and total > 0 else None


def _appliers(evidence: Evidence, backward: Backward, keys: frozenset[int]) -> tuple[str, ...]:
    """Those that hold these and stepped on this backward; another one may hold them for another loss."""
    holding = [o for o in evidence.optimizers.values() if o.held & keys & backward.applied]
    stepped = {u.optimizer for u in evidence.updates if any(b.number == backward.number for b in u.backwards)}
    return tuple(o.name for o in [o for o in holding if o.key in stepped] or holding)
