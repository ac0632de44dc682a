"""Steps whose result nobody keeps: the next one begins where the last one did, or nothing is made of it."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.jax.values import Value, origin, unwrap
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.objects import is_a, plain_array
from whygrad.frameworks.shared.records import UpdateRecord

_CALLS = 6  # of a compiled function, until it is said that nobody keeps what comes out
_REPEATS = 24  # the same of calls that are given nothing new: a warm-up, or somebody takes the time
_PATIENCE = 48  # calls more than others are looked at, in all


class _Made:
    """What a step has made of one parameter."""

    __slots__ = ("array", "start", "update", "version")

    def __init__(self, update: UpdateRecord, start: Any, version: Value, array: Any) -> None:
        self.update, self.start, self.version, self.array = update, start, version, weakref.ref(array)


class _Call:
    """What a call of a compiled function has made of one parameter."""

    __slots__ = ("given", "made", "new", "used")

    def __init__(self, given: Any, made: Any, new: bool) -> None:
        self.given, self.made, self.used = weakref.ref(given), weakref.ref(made), False
        self.new = new  # something that it was given is not what the call before was given


class Dropping:
    """The steps of late, and what became of them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._eager: dict[tuple[int, int], deque[_Made]] = {}
        self._traced: list[tuple[UpdateRecord, int, Value, Any]] = []
        self._updates: dict[Any, UpdateRecord] = {}  # variable of a program -> the update that makes it
        self._calls: dict[tuple[Any, int], deque[_Call]] = {}
        self._patience = _PATIENCE
        self._args: dict[Any, list[Any]] = {}  # of each function: what it was given last

    # -- eager code --------------------------------------------------------------------------------

    def stepped(
        self, key: tuple[int, int], update: UpdateRecord, before: Any, result: Any, new: Value
    ) -> None:
        """A step of this optimizer, and of this parameter."""
        if private.staging():
            base = unwrap(result)[0]
            if is_a(base, private.VAR):
                self._traced.append((update, key[1], new, base))
            return
        start: Node = origin(self._recorder.node(before))
        known = self._eager.setdefault(key, deque(maxlen=4))
        for made in known:
            if made.start is start and not made.version.consumed and made.array() is None:
                made.update.dropped |= {key[1]}
        array = unwrap(result)[0]
        if is_a(array, private.ARRAY):
            known.append(_Made(update, start, new, array))

    # -- compiled code -----------------------------------------------------------------------------

    def traced(self, jaxpr: Any) -> None:
        """A function was traced: what it makes, and neither uses nor returns, is gone."""
        made = {v for equation in jaxpr.eqns for v in equation.outvars}
        out = {v for v in jaxpr.outvars if is_a(v, private.VAR)}
        rest, gone = [], []
        kept: set[UpdateRecord] = set()  # a part that is not returned is frozen by hand
        for update, key, version, variable in self._traced:
            if variable in out:
                self._updates[variable] = update
            elif variable not in made:
                rest.append((update, key, version, variable))
            elif not version.consumed:
                gone.append((update, key))
                continue
            kept.add(update)
        for update, key in gone:
            if update not in kept:
                update.dropped |= {key}
        self._traced = rest

    def called(self, jaxpr: Any, args: Sequence[Any], results: Sequence[Any]) -> None:
        """Eager code has called a compiled function that steps: is it given what it has made?"""
        given = {param.key: array for param, array in self._given(jaxpr, args)}
        new = self._news(jaxpr, args)
        for variable, array in zip(jaxpr.outvars, results, strict=False):
            update = self._updates.get(variable) if is_a(variable, private.VAR) else None
            node = self._recorder.staged.get((variable, ())) if update is not None else None
            param = origin(node).parameter if node is not None else None
            if update is None or param is None or param.key not in given or not is_a(array, private.ARRAY):
                continue
            known = self._calls.setdefault((variable, param.key), deque(maxlen=_REPEATS))
            known.append(_Call(given[param.key], array, new))
        self.judge()

    def used(self, args: Sequence[Any]) -> None:
        """Eager code hands these to a compiled function."""
        if self._calls:
            there = {id(array) for array in args}
            for known in self._calls.values():
                for call in known:
                    made = call.made()
                    call.used = call.used or (made is not None and id(made) in there)

    def suspects(self) -> bool:
        """Shall some more calls be looked at? A function is given the same values, again and again."""
        found = any(not _enough(known) and _alike(known) for known in self._calls.values())
        self._patience -= found
        return found and self._patience > 0

    def judge(self) -> None:
        """All calls began with the same values, and what they made is gone unused."""
        kept: set[UpdateRecord] = set()
        gone: list[tuple[UpdateRecord, int]] = []
        for (variable, key), known in self._calls.items():
            update = self._updates[variable]
            named = any(call.made() is not None for call in list(known)[:-2])  # the last two have names still
            if not _enough(known) or not _alike(known) or named or any(call.used for call in known):
                kept.add(update)
            else:
                gone.append((update, key))
        for update, key in gone:
            if update not in kept:
                update.dropped |= {key}

    def _news(self, jaxpr: Any, args: Sequence[Any]) -> bool:
        """Is one of these another one than in the call before?"""
        before = self._args.get(jaxpr, [])
        self._args[jaxpr] = [_reference(value) for value in args]
        pairs = zip(before, args, strict=False)
        return not before or any(old is None or old() is not value for old, value in pairs)

    def _given(self, jaxpr: Any, args: Sequence[Any]) -> list[tuple[Param, Any]]:
        found = []
        for variable, array in zip(jaxpr.invars, args, strict=False):
            node = self._recorder.staged.get((variable, ()))
            param = origin(node).parameter if node is not None else None
            if param is not None and is_a(array, private.ARRAY):
                found.append((param, array))
        return found


def _enough(calls: deque[_Call]) -> bool:
    """Is it certain that they are updates? The same, done again and again, may be a warm-up."""
    different = 1 + sum(call.new for call in list(calls)[1:])
    return different >= _CALLS or len(calls) >= _REPEATS


def _reference(value: Any) -> Any:
    """Weak; nothing of what cannot be asked later."""
    plain = is_a(value, private.ARRAY) or plain_array(value) is value
    return weakref.ref(value) if plain else None


def _alike(calls: deque[_Call]) -> bool:
    """Did all of them begin with the same array?"""
    return len({id(call.given()) for call in calls}) == 1 and calls[0].given() is not None and len(calls) > 1
