"""What several parts of a recording share, each once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.storage import limits


class TooLarge(ValueError):
    """More than a run has."""


class Table:
    """Rows that are made when their value is first met. Values with the same key are the same one."""

    def __init__(self, key: Callable[[Any], Any], made: Callable[[Any], Any]) -> None:
        self.rows: list[Any] = []
        self._key, self._made = key, made
        self._numbers: dict[Any, int] = {}

    def index(self, value: Any) -> int:
        """The row of this value."""
        key = self._key(value)
        known = self._numbers.get(key)
        if known is None:
            row = self._made(value)  # which may add rows before this one
            known = self._numbers[key] = len(self.rows)
            self.rows.append(row)
        return known


class Tables:
    """By kind: a ``Table`` that grows while a recording is packed, and its values when it is unpacked."""

    def __init__(self) -> None:
        self.growing: dict[Any, Table] = {}
        self.known: dict[Any, list[Any]] = {}
        self._members = 0

    def count(self, members: int) -> None:
        """So many more members of flows; raises ``TooLarge`` before they fill the memory."""
        self._members += members
        if self._members > limits.MEMBERS:
            raise TooLarge(f"its flows have more than {limits.MEMBERS:,} members")
