"""States of optimizers: does the next update begin with what the last one has remembered?

Certain only where the parameters were carried on: whoever begins from the first ones again may begin with
the first state, too.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.values import Value, unwrap
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.records import OptimizerRecord, UpdateRecord

_PATIENCE = 12  # calls more than others are looked at, in all
_OFTEN = 3  # updates that had nothing to remember, though the parameters had been stepped


@dataclass(slots=True, eq=False)
class _Memory:
    """One ``tx.update``: the moments that it got, and those that it gave."""

    where: Where | None
    given: list[Any]  # variables, or weak references to arrays
    made: list[Any]
    last: list[Any]  # what it gave in all, which ends its own operations


@dataclass(slots=True)
class _Ledger:
    """What became of the moments of one optimizer."""

    lost: list[UpdateRecord] = field(default_factory=list)
    kept: bool = False

    def note(self, update: UpdateRecord, where: Where | None, times: int = 1) -> None:
        """They were thrown away, or were the first ones again."""
        self.lost += [update] * times
        if len(self.lost) >= _OFTEN and not self.kept:
            for one in self.lost:
                one.forgot = where

    def keep(self) -> None:
        """They were carried on once: whoever begins anew now and then means it."""
        self.kept = True
        for one in self.lost:
            one.forgot = None


@dataclass(slots=True, eq=False)
class _Link:
    """A step of one parameter in a function that was traced."""

    ledger: _Ledger
    memory: _Memory
    update: UpdateRecord
    start: Any
    made: Any


@dataclass(slots=True, eq=False)
class _Way:
    """The same, by the places of the arguments and results of that function."""

    link: _Link
    start: int
    made: int
    dead: bool  # it does not give the new moments to anybody
    given: list[int]
    carried: list[int]
    before: Any = None  # the last call's: the parameter that it made, and the moments that it got
    moments: list[Any] = field(default_factory=list)


class Remembering:
    """The moments of each optimizer, from update to update."""

    def __init__(self) -> None:
        self._memories: dict[int, _Memory] = {}  # of each optimizer: the last one
        self._steps: dict[tuple[int, int], tuple[Node, _Memory]] = {}
        self._ledgers: dict[int, _Ledger] = {}
        self._links: list[_Link] = []
        self._ways: dict[Any, list[_Way]] = {}
        self._patience = _PATIENCE

    def updated(self, record: OptimizerRecord, state: Any, result: Any, where: Where | None) -> None:
        """``updates, new = tx.update(gradients, state)``."""
        self._memories.pop(record.key, None)
        leaves = jax.tree_util.tree_leaves
        before, after = leaves(state), leaves(result[1]) if len(result) == 2 else []
        shapes = {private.shape_of(leaf) for leaf in leaves(result[0])} - {None, ()}
        pairs = [
            (_held(a), _held(b))
            for a, b in zip(before, after, strict=False)
            if private.floating(a) and private.shape_of(a) in shapes and unwrap(a)[0] is not unwrap(b)[0]
        ]
        if len(before) == len(after) and pairs and all(a is not None and b is not None for a, b in pairs):
            ends = [base for base in (unwrap(leaf)[0] for leaf in leaves(result)) if is_a(base, private.VAR)]
            self._memories[record.key] = _Memory(where, [a for a, _ in pairs], [b for _, b in pairs], ends)

    def stepped(
        self, key: tuple[int, int], update: UpdateRecord, start: Node, before: Any, result: Any, new: Value
    ) -> None:
        """This optimizer has stepped this parameter."""
        memory = self._memories.get(key[0])
        if memory is None:
            return
        ledger = self._ledgers.setdefault(key[0], _Ledger())
        known = self._steps.get(key)
        if known is not None and known[0] is start and known[1] is not memory:
            if _same(known[1].given, memory.given):
                if not ledger.lost or ledger.lost[-1] is not update:
                    ledger.note(update, memory.where)
            else:
                ledger.keep()
        self._steps[key] = (new, memory)
        if private.staging():
            first, made = unwrap(before)[0], unwrap(result)[0]
            if is_a(first, private.VAR) and is_a(made, private.VAR):
                self._links.append(_Link(ledger, memory, update, first, made))

    # -- compiled code -----------------------------------------------------------------------------

    def traced(self, jaxpr: Any) -> None:
        """A function was traced: which of its arguments become which of its results?"""
        places = {id(v): i for i, v in reversed(list(enumerate(jaxpr.invars)))}
        results = {id(v): i for i, v in reversed(list(enumerate(jaxpr.outvars)))}
        ways, rest = [], []
        for link in self._links:
            if id(link.start) not in places or id(link.made) not in results:
                rest.append(link)
                continue
            memory = link.memory
            carried = [results[id(v)] for v in memory.made if id(v) in results]
            dead = not carried and _unused(jaxpr, memory)
            given = [places[id(v)] for v in memory.given if id(v) in places]
            ways.append(_Way(link, places[id(link.start)], results[id(link.made)], dead, given, carried))
        self._links = rest
        if ways:
            self._ways[jaxpr] = ways

    def looped(self, body: Any, first: int, carried: int, rounds: int) -> None:
        """It is the body of a scan, whose carry begins with this argument."""
        for way in self._ways.get(body, ()):
            link = way.link
            if way.start - first != way.made or not 0 <= way.made < carried or rounds <= _OFTEN:
                continue
            if way.dead and link.update not in link.ledger.lost:
                link.ledger.note(link.update, link.memory.where, _OFTEN)
            elif not way.dead and any(place < carried for place in way.carried):
                link.ledger.keep()

    def called(self, jaxpr: Any, args: Sequence[Any], results: Sequence[Any], where: Where | None) -> None:
        """Eager code has called it: with the parameters of the call before, and the moments before those?"""
        noted: set[UpdateRecord] = set()
        for way in self._ways.get(jaxpr, ()):
            if max(way.start, *way.given, 0) >= len(args) or way.made >= len(results):
                continue
            update, ledger = way.link.update, way.link.ledger
            goes_on = way.before is not None and way.before() is args[way.start]
            moments = [_held(args[place]) for place in way.given]
            if goes_on and (way.dead or (moments and _same(moments, way.moments))):
                if update not in noted:
                    ledger.note(update, way.link.memory.where if way.dead else where)
                noted.add(update)
            elif goes_on and moments and way.carried:
                ledger.keep()
            way.before, way.moments = _held(results[way.made]), moments

    def suspects(self) -> bool:
        """Shall some more calls be looked at? Moments were lost, not often enough yet to be sure."""
        ledgers = self._ledgers.values()
        found = any(0 < len(ledger.lost) < _OFTEN and not ledger.kept for ledger in ledgers)
        self._patience -= found
        return found and self._patience > 0


def _held(value: Any) -> Any:
    """A variable, or a weak reference to an array."""
    base = unwrap(value)[0]
    if is_a(base, private.VAR):
        return base
    return weakref.ref(base) if is_a(base, private.ARRAY) else None


def _same(some: list[Any], others: list[Any]) -> bool:
    """Are these the same arrays?"""
    return len(some) == len(others) and all(
        a is b or (is_a(a, weakref.ref) and is_a(b, weakref.ref) and a() is b() and a() is not None)
        for a, b in zip(some, others, strict=True)
    )


def _unused(jaxpr: Any, memory: _Memory) -> bool:
    """Does nobody use the new moments, after the optimizer's own operations?"""
    ends, made = {id(v) for v in memory.last}, {id(v) for v in memory.made}
    last = max((i for i, e in enumerate(jaxpr.eqns) if any(id(v) in ends for v in e.outvars)), default=-1)
    return last >= 0 and not any(id(v) in made for e in jaxpr.eqns[last + 1 :] for v in e.invars)
