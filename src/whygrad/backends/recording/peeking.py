"""A look at what was recorded, in the middle of a run, after which everything is as it was before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from whygrad.backends.recording.nodes import Param
from whygrad.backends.recording.records import BackwardRecord, OptimizerRecord

#: What a look at the end settles, and what must stay open as long as the script runs.
_OF_PARAM = (
    "captured",
    "frozen_at",
    "made",
    "name",
    "network",
    "ref",
    "replaced_at",
    "seen",
    "untracked_how",
    "untracked_in",
)
_OF_OPTIMIZER = ("held", "lr_always_zero", "name", "pulses", "steps")


class Watch(Protocol):
    """What the watches of all frameworks have."""

    optimizers: dict[int, OptimizerRecord]
    aliases: list[tuple[tuple[str, ...], tuple[int, ...]]]


@contextmanager
def without_trace(
    watch: Watch, params: dict[int, Param], pending: Iterable[BackwardRecord]
) -> Iterator[None]:
    """What is found out about parameters and optimizers in here is forgotten afterwards."""
    known, aliases = dict(params), watch.aliases
    records = list(watch.optimizers.values())
    kept = [
        *(_fields(param, _OF_PARAM) for param in known.values()),
        *(_fields(record, _OF_OPTIMIZER) for record in records),
    ]
    updates = [update for record in records for update in record.updates]
    backwards = {*pending, *(backward for update in updates for backward in update.backwards)}
    kept += [_fields(update, ("zero",)) for update in updates]
    kept += [_fields(backward, ("reached",)) for backward in backwards]
    for record in records:
        record.pulses = record.pulses.copy()
    try:
        yield
    finally:
        watch.aliases = aliases
        for thing, values in kept:
            for name, value in values.items():
                setattr(thing, name, value)
        for key in params.keys() - known.keys():
            params.pop(key, None)


def _fields(thing: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    return thing, {name: getattr(thing, name) for name in names}
