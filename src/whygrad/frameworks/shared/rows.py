"""Batches that are lists of tuples, ``random.sample(memory, 32)``: what stands at one place of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from whygrad.frameworks.shared.objects import attributes, fields, is_a, listed, plain_number, size
from whygrad.frameworks.shared.scopes import is_plain

_ROWS = 512  # tuples that are looked at
_WIDE = 12  # places in one of them


def columns(variables: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """``batch[4]``, or ``batch.done`` of named tuples, with the numbers there.

    A batch is small and the end of an episode rare: the memory that it was drawn from is looked at with it.
    """
    batches = {name: rows for name, value in variables.items() if (rows := _batch(value))}
    stores = [rows for value in variables.values() for rows in _stores(value)] if batches else []
    for name, batch in batches.items():
        width = size(batch[0])
        store = next((rows for rows in stores if all(size(row) == width for row in rows)), [])
        named = fields(batch[0])
        for k, entry in enumerate(listed(batch[0])[:_WIDE]):
            if _is_number(entry):
                column = [listed(row)[k] for row in (*batch, *store)]
                yield (f"{name}.{named[k]}" if named else f"{name}[{k}]"), column


def _batch(value: Any) -> list[Any]:
    rows = listed(value) if is_a(value, list) and 1 < size(value) <= _ROWS else []
    alike = all(is_a(row, tuple) and size(row) == size(rows[0]) for row in rows)
    return rows if alike else []


def _stores(value: Any) -> Iterator[list[Any]]:
    """The beginning of a memory: a deque, or one that an object of the user's own holds."""
    held = [each for _, each in attributes(value)] if is_plain(value) else [value]
    for one in held:
        rows = list(islice(deque.__iter__(one), _ROWS)) if is_a(one, deque) else []
        if len(rows) > 1 and all(is_a(row, tuple) for row in rows):
            yield rows


def _is_number(value: Any) -> bool:
    return type(value) is bool or plain_number(value) is not None
