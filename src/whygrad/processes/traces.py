"""What one rank has to have in common with the others, from what was seen of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from whygrad.flow.scales import scaled
from whygrad.model import Backward, Evidence, Observation, Parameter, Print, Site, Trace, Update, source

_Network = dict[int, tuple[Parameter, Print]]

#: They divide by what gradients have been like of late.
_STEADY = frozenset(("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta", "Rprop"))
_UNSYNCED = re.compile(r"\.no_sync\(|\brequire_backward_grad_sync\s*=\s*False")
_BY_HAND = re.compile(r"\ball_?reduce\w*\(")
_DIVIDED = re.compile(r"\.grad\b.*(?:/|\bdiv_?\().*\b(?:get_)?(?:world|num_ranks|n_ranks|nranks|nprocs)")
_RANKS = re.compile(r"world_?size|\bworld\b|num_processes|\b(?:n|num|n_|num_)?ranks\b|nprocs", re.I)
_NAMED = 8


def traces(observed: Mapping[str, Observation]) -> tuple[Trace, ...]:
    """A line for each network in each recorded update; none where nobody else trains the same."""
    return tuple(t for observation in observed.values() for t in _of(observation.evidence))


def _of(evidence: Evidence) -> Iterator[Trace]:
    order = {key: nth for nth, key in enumerate(evidence.optimizers)}
    for update in evidence.updates:
        networks: dict[str, _Network] = {}
        for key, found in update.prints.items():
            parameter = evidence.parameters.get(key)
            if parameter is not None:
                networks.setdefault(parameter.network or parameter.name, {})[key] = parameter, found
        for network, members in networks.items():
            yield _trace(evidence, update, order.get(update.optimizer, 0), network, members)


def _trace(evidence: Evidence, update: Update, nth: int, network: str, members: _Network) -> Trace:
    optimizer = evidence.optimizers.get(update.optimizer)
    backward = update.backwards[-1] if update.backwards else None
    prints = [found for _, found in members.values()]
    reached = {key for b in update.backwards for key in b.reached}
    mean, shared, share = _scale(backward) if backward is not None else (0.0, None, 1.0)
    return Trace(
        optimizer=optimizer.name if optimizer is not None else "",
        nth=nth,
        update=update.number,
        network=network,
        weights=math.hypot(*(p.weights for p in prints)),
        gradient=math.hypot(*(p.gradient for p in prints)),
        step=update.site,
        loss=backward.site if backward is not None else None,
        around=_around(backward) if backward is not None else None,
        inner=_call(backward, members) if backward is not None and update.wrapped else None,
        unsynced=_line(update.site, _UNSYNCED),
        wrapped=bool(update.wrapped),
        before=_total(p.before for p in prints if p.gradient),
        after=_total(p.after for p in prints if p.gradient),
        mean=mean,
        shared=shared,
        share=share,
        written=_line(update.site, _BY_HAND),
        divided=_line(update.site, _DIVIDED),
        steady=optimizer is not None and optimizer.kind in _STEADY,
        unreached=tuple(p.name for key, (p, _) in members.items() if key not in reached and p.trainable)[
            :_NAMED
        ]
        if reached
        else (),
    )


def _total(sums: Iterable[float | None]) -> float | None:
    """Of all parameters that have a gradient; nothing if one of them was not looked at."""
    found = list(sums)
    known = [one for one in found if one is not None and math.isfinite(one)]
    return math.fsum(known) if known and len(known) == len(found) else None


def _around(backward: Backward) -> Site | None:
    """The line of the loss's flow on which the inner module is called."""
    for op in backward.flow.ops.values():
        for site in (op.site, *op.callers):
            if op.carries and site is not None and ".module(" in site.code:
                return site
    return None


def _call(backward: Backward, members: _Network) -> Site | None:
    """The line on which the network is called, where the loss is differentiated."""
    here = backward.site
    for op in backward.flow.ops.values():
        if here is not None and op.carries and any(backward.flow.parameter(i) in members for i in op.inputs):
            calls = [site for site in (op.site, *op.callers) if site is not None]
            near = [site for site in calls if (site.file, site.function) == (here.file, here.function)]
            return (near or calls)[-1] if calls else None
    return None


def _line(step: Site | None, words: re.Pattern[str]) -> Site | None:
    """Of the file in which the step is made: the first that says so."""
    if step is None:
        return None
    for number, line in enumerate(source.lines(step.file), 1):
        if words.search(line.partition("#")[0]):
            return Site.read(step.file, number, step.function)
    return None


def _scale(backward: Backward) -> tuple[float, Site | None, float]:
    """The largest number in front of a mean; where every term is divided by the number of ranks."""
    terms = [term for root in backward.roots for term in scaled(backward.flow, root)]
    if not terms:
        return 0.0, None, 1.0
    mean = max(abs(term.factor) for term in terms) if all(term.mean for term in terms) else 0.0
    for place in set.intersection(*(set(term.where) for term in terms)):
        factor, site = place
        if 0 < factor < 1 and site is not None and _RANKS.search(site.code):
            return mean, site, factor
    return mean, None, 1.0
