"""Weights that were written into other weights."""

from __future__ import annotations

from collections.abc import Iterable

from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.records import CopyRecord

_MOST = 8192
_FAR = 64  # values between a weight and what is written into it


class Copies:
    """The copies of a run, one per pair of weights and line."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, Where | None], CopyRecord] = {}

    def add(
        self,
        source: Param,
        target: Param,
        where: Where | None,
        how: str,
        factor: float | None,
        own: float | None = 0.0,
    ) -> None:
        """``target`` was given values of ``source``."""
        known = self._known.get((source.key, target.key, where))
        if known is not None:
            known.again(factor, own)
        elif len(self._known) < _MOST:
            record = CopyRecord(source, target, where, how, factor, own)
            self._known[source.key, target.key, where] = record

    def all(self) -> list[CopyRecord]:
        """In the order of their first time."""
        return list(self._known.values())


def note_origin(param: Param, sources: Iterable[Node]) -> None:
    """A parameter was overwritten: is it now a copy, or a mixture, of another one?"""
    todo, steps = list(sources), 0
    while todo and steps < _FAR:
        node = todo.pop()
        steps += 1
        other = node.parameter
        if other is None:
            todo.extend(() if node.name.endswith("_like") else node.inputs)  # zeros_like: only its shape
        elif other is not param and other.shape == param.shape:
            param.copied_from = other
