"""A value taken apart: the addends that it is a sum of, with their signs and discounts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whygrad.flow.layers import adds_bias
from whygrad.flow.paths import stops
from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import DRAWS, KEEPS_VALUE, SCALES, SUMS

_MOST = 1000
_NEAR = 6  # operations between a random draw and its use as a factor
_TINY = 1e-4
_NUMBER = 0  # stands for a plain number: no operation has this id


@dataclass(frozen=True, slots=True)
class Addend:
    """One part of a sum.

    ``discounted``: a factor below one, or data, stands before it, inside of a sum: ``gamma * v * mask``.
    ``live``: gradient of the sum flows to it. ``sums`` are the additions it went into, outermost first;
    the first ``around`` of them are outside of every such factor. ``picks`` and ``scales`` are the slices and
    the factors on the way, outermost first.
    """

    op: int
    sign: int = 1
    discounted: bool = False
    live: bool = True
    data: bool = False
    sums: tuple[int, ...] = ()
    around: int = 0
    picks: tuple[int, ...] = ()
    scales: tuple[int, ...] = ()

    @property
    def value(self) -> int:
        """The value itself: of one that is picked from many, the slice."""
        return self.picks[0] if self.picks else self.op

    @property
    def itself(self) -> tuple[int, ...]:
        """What is the same for two addends that differ in nothing but their signs."""
        return (self.op, *self.picks, *self.scales)


class Parts:
    """Taking apart values of one flow; knows which values come from networks."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self._keys: dict[int, frozenset[int]] = {}
        self._addends: dict[tuple[int, int], list[Addend]] = {}

    def behind(self, op: int) -> frozenset[int]:
        """The parameters that a value was computed with; not through choices, nor through plain data."""
        known = self._keys.get(op)
        return known if known is not None else self._fill(op)

    def _fill(self, start: int) -> frozenset[int]:
        todo = [start]
        while todo:
            here = todo[-1]
            op = self.flow[here]
            missing = [i for i in _sources(self.flow, op) if i not in self._keys]
            if here in self._keys or not missing:
                todo.pop()
                own = frozenset((op.parameter,)) if op.parameter is not None else frozenset[int]()
                self._keys.setdefault(here, own.union(*(self._keys[i] for i in _sources(self.flow, op))))
            else:
                todo.extend(missing)
        return self._keys[start]

    def addends(self, start: int, sign: int = 1) -> list[Addend]:
        """What a value is the sum of, down to the outputs of networks and to data."""
        known = self._addends.get((start, sign))
        if known is None:
            known = self._addends[start, sign] = self._take_apart(start, sign)
        return known

    def _take_apart(self, start: int, sign: int) -> list[Addend]:
        found: list[Addend] = []
        todo = [Addend(start, sign)]
        seen: set[tuple[int, int, bool, bool]] = set()
        while todo and len(seen) < _MOST:
            here = todo.pop()
            state = (here.op, here.sign, here.discounted, here.live)
            if state in seen and here.op != _NUMBER:
                continue  # a return that is carried from step to step
            seen.add(state)
            if here.op == _NUMBER:
                found.append(here)
                continue
            op = self.flow[here.op]
            if not self.behind(here.op):
                found.append(replace(here, data=True, live=False))
                continue
            inside = self._inside(op, here)
            if inside is None:
                found.append(here)
            else:
                todo.extend(
                    a if a.data else replace(a, live=a.live and self._passes(a.op, op)) for a in inside
                )
        return _without_pairs(found)

    def _passes(self, source: int, op: Op) -> bool:
        return self.flow[source].carries and op.carries and not stops(self.flow[source], op)

    def _inside(self, op: Op, here: Addend) -> list[Addend] | None:
        """The addends one level deeper, or nothing if this is as far as it goes."""
        kind, inputs = op.kind, op.inputs
        if op.fresh or op.parameter is not None or not inputs or adds_bias(self.flow, op):
            return None
        if kind is Kind.NEGATE:
            return [replace(here, op=inputs[0], sign=-here.sign)]
        if kind in SUMS:
            return _summed(op, here)
        if kind is Kind.PUT:
            return [replace(here, op=i) for i in dict.fromkeys((inputs[0], inputs[-1]))]
        if kind is Kind.JOIN:
            return [replace(here, op=i) for i in inputs]
        if kind is Kind.WHERE and len(inputs) >= 2:
            return [replace(here, op=i) for i in inputs[-2:]]
        if kind is Kind.PICK:
            return [replace(here, op=inputs[0], picks=(*here.picks, op.id))]
        if kind in KEEPS_VALUE:
            return [replace(here, op=inputs[0])]
        return self._scaled(op, here) if kind in SCALES else None

    def _scaled(self, op: Op, here: Addend) -> list[Addend] | None:
        divided = op.kind is Kind.DIVIDE
        from_networks = [i for i in op.inputs if self.behind(i)]
        if len(from_networks) != 1 or (divided and (op.swapped or from_networks[0] != op.inputs[0])):
            return None
        if here.sums and any(self._noise(i) for i in op.inputs if i != from_networks[0]):
            return None  # a reparameterised sample: what noise is multiplied with is a deviation
        number = op.numbers[0] if op.numbers and len(op.inputs) == 1 else None
        less = number is None or 0 < abs(number) < 1
        sign = here.sign if number is None or number >= 0 else -here.sign
        scaled = replace(here, op=from_networks[0], sign=sign, scales=(*here.scales, op.id))
        if here.sums and less and not divided:
            return [replace(scaled, discounted=True, around=len(here.sums))]
        return [scaled]

    def _noise(self, number: int) -> bool:
        """Is this factor a random draw, perhaps shaped or clipped since?"""
        for _ in range(_NEAR):
            op = self.flow[number]
            if op.kind is Kind.NOISE or op.kind in DRAWS:
                return op.floating
            if op.fresh or not op.floating or not op.inputs or op.swapped:
                return False  # ``1 - done`` is a mask, also of data that was drawn for a try
            number = op.inputs[0]
        return False


def _without_pairs(addends: list[Addend]) -> list[Addend]:
    """``mean + noise - mean``: what is added and taken away again is not there: both alive, or neither."""
    signs: dict[object, set[int]] = {}
    for addend in addends:
        if addend.op != _NUMBER:
            signs.setdefault((addend.itself, addend.live), set()).add(addend.sign)
    return [a for a in addends if a.op == _NUMBER or len(signs[a.itself, a.live]) == 1]


def _sources(flow: Flow, op: Op) -> tuple[int, ...]:
    """What a value was computed from, as far as it is arithmetic; a variable is what it is."""
    if op.kind is Kind.READ:
        return op.inputs[:1]
    if op.kind is Kind.PREDICT:
        return op.inputs  # the output of a network, as an array
    if op.fresh and op.inputs:
        return tuple(i for i in op.inputs if flow[i].kind is Kind.PREDICT)
    return () if op.fresh or op.left or not op.floating else op.inputs


def _summed(op: Op, here: Addend) -> list[Addend]:
    sums = (*here.sums, op.id)
    signs = [here.sign, -here.sign if op.kind is Kind.SUBTRACT else here.sign]
    if op.swapped:
        signs.reverse()
    if len(op.inputs) == 1:
        first = replace(here, op=op.inputs[0], sign=signs[0], sums=sums)
        plain = [n for n in op.numbers[:1] if not 0 < abs(n) <= _TINY]
        if not plain:
            return [first]
        return [first, replace(here, op=_NUMBER, sign=signs[1], data=True, live=False, sums=sums)]
    signs += [here.sign] * (len(op.inputs) - 2)  # one operation that adds up many
    return [replace(here, op=i, sign=s, sums=sums) for i, s in zip(op.inputs, signs, strict=False)]
