"""What a run can say of an optimizer in one line."""

from __future__ import annotations

from whygrad.frameworks.shared.frames import USER, Where, kind_of
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.model import Site, UpdateCount


def count_of(record: OptimizerRecord) -> UpdateCount:
    """How often it stepped, what it trains, and from which loss."""
    return UpdateCount(
        optimizer=record.name or record.kind,
        count=record.steps + record.others[1],
        others=record.others[0],
        recorded=record.recorded,
        networks=_networks(record),
        loss=_loss_site(record),
    )


def _networks(record: OptimizerRecord) -> tuple[str, ...]:
    """What an optimizer trains, by the largest parts that it holds: ``ac.pi`` rather than ``ac``."""
    groups: dict[str, list[str]] = {}
    for param in record.held.values():
        if param.trained:
            groups.setdefault(param.network or param.name, []).append(param.name)
    return tuple(_common(names) or network for network, names in groups.items())


def _common(names: list[str]) -> str:
    """The dotted beginning that all names share, without the parameter's own part."""
    split = [name.split(".")[:-1] or [name] for name in names]
    shared = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return ".".join(shared)


def _own(where: Where) -> Where:
    """The user's line: of a loss that a library makes, the one that called it."""
    return next((place for place in (where, *where.outer) if kind_of(place.code) == USER), where)


def _loss_site(record: OptimizerRecord) -> Site | None:
    """Where the loss is made whose gradients this optimizer applies."""
    for update in record.updates:
        for backward in update.backwards:
            roots = [root.where for root in backward.roots if root.where is not None]
            if backward.applied & record.held.keys() and roots:
                return _own(roots[0]).site()
    return None
