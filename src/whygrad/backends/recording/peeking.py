"""A look at what was recorded, in the middle of a run, after which everything is as it was before.

Other threads may train meanwhile. So only that is put back which a look changes; names are given by one
thread at a time (``naming``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from whygrad.backends.recording.nodes import Param
from whygrad.backends.recording.records import BackwardRecord, OptimizerRecord

_NAMES = ("captured", "name", "network", "seen", "untracked_how", "untracked_in")
_ORIGINS = ("frozen_at", "made", "ref", "replaced_at")


class Watch(Protocol):
    """What the watches of all frameworks have."""

    optimizers: dict[int, OptimizerRecord]
    aliases: list[tuple[tuple[str, ...], tuple[int, ...]]]
    naming: Any  # a lock


@contextmanager
def without_trace(watch: Watch, params: dict[int, Param]) -> Iterator[None]:
    """Names that are found in here, and weights that are found broken, are forgotten afterwards."""
    with watch.naming:
        aliases, records = watch.aliases, list(watch.optimizers.values())
        kept = [_fields(param, _NAMES) for param in list(params.values())]
        kept += [_fields(record, ("name", "pulses", "looks")) for record in records]
        for record in records:
            record.pulses = record.pulses.copy()
        try:
            yield
        finally:
            watch.aliases = aliases
            _put_back(kept)


@contextmanager
def unsettled(watch: Watch, params: dict[int, Param], pending: Iterable[BackwardRecord]) -> Iterator[None]:
    """The same where a look settles more: steps of compiled code, what layers tell of themselves."""
    known, records = dict(params), list(watch.optimizers.values())
    updates = [update for record in records for update in record.updates]
    backwards = {*pending, *(backward for update in updates for backward in update.backwards)}
    kept = [_fields(param, _ORIGINS) for param in known.values()]
    kept += [_fields(record, ("lr_always_zero",)) for record in records]
    kept += [_fields(record, ("steps",)) for record in records if record.traced]
    kept += [_fields(record, ("held",)) for record in records if not record.held]
    kept += [_fields(update, ("zero",)) for update in updates]
    kept += [_fields(backward, ("reached",)) for backward in backwards]
    try:
        with without_trace(watch, params):
            yield
    finally:
        _put_back(kept)
        for key in params.keys() - known.keys():
            if not params[key].used and not params[key].trained:
                params.pop(key, None)


def _fields(thing: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    return thing, {name: getattr(thing, name) for name in names}


def _put_back(kept: Iterable[tuple[Any, dict[str, Any]]]) -> None:
    for thing, values in kept:
        for name, value in values.items():
            setattr(thing, name, value)
