"""What one rank has to have in common with the others, from what was seen of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from whygrad.model import Backward, Evidence, Observation, Print, Site, Trace, Update, source


def traces(observed: Mapping[str, Observation]) -> tuple[Trace, ...]:
    """A line for each network in each recorded update; none where nobody else trains the same."""
    return tuple(t for observation in observed.values() for t in _of(observation.evidence))


def _of(evidence: Evidence) -> Iterator[Trace]:
    order = {key: nth for nth, key in enumerate(evidence.optimizers)}
    for update in evidence.updates:
        networks: dict[str, list[Print]] = {}
        for key, found in update.prints.items():
            parameter = evidence.parameters.get(key)
            if parameter is not None:
                networks.setdefault(parameter.network or parameter.name, []).append(found)
        for network, prints in networks.items():
            yield _trace(evidence, update, order.get(update.optimizer, 0), network, prints)


def _trace(evidence: Evidence, update: Update, nth: int, network: str, prints: list[Print]) -> Trace:
    optimizer = evidence.optimizers.get(update.optimizer)
    backward = update.backwards[-1] if update.backwards else None
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
        unsynced=_unsynced(update.site),
    )


def _around(backward: Backward) -> Site | None:
    """The line of the loss's flow on which the inner module is called."""
    for op in backward.flow.ops.values():
        for site in (op.site, *op.callers):
            if op.carries and site is not None and ".module(" in site.code:
                return site
    return None


def _unsynced(step: Site | None) -> Site | None:
    """A block of the same file in which gradients are left as they are."""
    for number, line in enumerate(source.lines(step.file) if step is not None else (), 1):
        if ".no_sync()" in line and step is not None:
            return Site.read(step.file, number, step.function)
    return None
