"""From a parameter to the loss: is there a way, and where is it cut?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from whygrad.model import Flow, Kind, Op
from whygrad.model.kinds import DRAWS

_DATA = 100  # a value that left the framework under no_grad is meant as data: the last explanation to try


@dataclass(frozen=True, slots=True)
class Path:
    """The way from a parameter to a root with the fewest cuts, parameter first."""

    ops: tuple[Op, ...]
    cuts: tuple[int, ...]  # positions in ``ops`` of the operations that let no gradient through
    cost: int

    @property
    def living(self) -> bool:
        """Gradient flows all the way."""
        return not self.cuts

    @property
    def through_data(self) -> bool:
        """The way exists only through data that was collected under ``no_grad``."""
        return self.cost >= _DATA


def stops(source: Op, op: Op) -> bool:
    """Does gradient that arrives at ``op`` fail to go on to ``source``?"""
    # Of what is stepwise the derivative is zero: torch gives zeros there, TensorFlow gives nothing.
    return (source.carries and not op.carries) or op.kind is Kind.STEPWISE


def is_detach(op: Op) -> bool:
    """``.detach()`` or ``.data``."""
    return op.kind is Kind.STOP


def is_draw(op: Op) -> bool:
    """A random sample: ``Normal.sample()``, ``torch.multinomial``."""
    return op.api.rpartition(".")[2] in ("sample", "sample_n") or op.kind in DRAWS


def is_data(source: Op, op: Op) -> bool:
    """The value left the framework under ``no_grad``: it is meant as data."""
    return op.left and (op.block is not None or (source.block is not None and not source.carries))


def _cost(source: Op, op: Op, since: int) -> int:
    """How unlikely it is that gradient was meant to flow from ``op`` to ``source``.

    A living edge costs nothing and a cut one. Data costs more: an old value, a random draw, a discrete choice
    or a ``detach`` behind another cut, most of all what left the framework under ``no_grad``.
    """
    if is_data(source, op):
        return _DATA
    if stops(source, op):
        return 2 if op.time <= since else 1
    drawn = is_draw(op) or is_detach(op) or (source.floating and not op.floating)
    return 1 if drawn and not source.carries and not op.fresh and op.inputs else 0


def _meant(source: Op, op: Op) -> bool:
    """A cut that is there for a reason more often than not: of a block, or of a draw."""
    return stops(source, op) and (op.block is not None or is_draw(op))


class Reach:
    """All ways that lead to some roots, searched once, fewest cuts first."""

    def __init__(self, flow: Flow, roots: Iterable[int], since: int = 0) -> None:
        self._flow = flow
        self._since = since
        self._cost: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._living: frozenset[int] | None = None
        self.parameters: dict[int, int] = {}  # parameter key -> its operation
        self._search([r for r in roots if r in flow.ops])

    def _search(self, roots: list[int]) -> None:
        """Dijkstra; of equal ways the one that no block cuts (targets are computed in blocks), nor a draw
        (``one_hot(action) * policy.detach()``), and then the one through earlier arguments:
        ``mse_loss(prediction, target)``."""
        rank = _preorder(self._flow, roots)
        blocks = dict.fromkeys(roots, 0)
        todo = [(0, 0, rank[root], root) for root in roots]
        self._cost = dict.fromkeys(roots, 0)
        done: set[int] = set()
        while todo:
            cost, blocked, _, here = heappop(todo)
            if here in done:
                continue
            done.add(here)
            op = self._flow[here]
            if op.parameter is not None:
                self.parameters.setdefault(op.parameter, here)
            for there in op.inputs:
                total = cost + _cost(self._flow[there], op, self._since)
                inside = blocked + _meant(self._flow[there], op)
                known = (self._cost[there], blocks[there]) if there in self._cost else None
                if known is None or (total, inside) < known:
                    self._cost[there], blocks[there], self._next[there] = total, inside, here
                    heappush(todo, (total, inside, rank[there], there))
                elif (
                    (total, inside) == known and there in self._next and rank[here] < rank[self._next[there]]
                ):
                    self._next[there] = here

    def living(self) -> frozenset[int]:
        """The parameters that gradient reaches."""
        if self._living is None:
            self._living = frozenset(k for k, op in self.parameters.items() if not self._cost[op])
        return self._living

    def path(self, parameter: int) -> Path | None:
        """The way from this parameter, or nothing."""
        here: int | None = self.parameters.get(parameter)
        if here is None:
            return None
        cost = self._cost[here]
        ops = [self._flow[here]]
        cuts = []
        while here in self._next:
            here = self._next[here]
            op = self._flow[here]
            if stops(ops[-1], op):
                cuts.append(len(ops))
            ops.append(op)
        return Path(tuple(ops), tuple(cuts), cost)


def _preorder(flow: Flow, roots: list[int]) -> dict[int, int]:
    """Numbers in the order in which one reads the expression, first arguments first."""
    rank: dict[int, int] = {}
    todo = list(reversed(roots))
    while todo:
        here = todo.pop()
        if here not in rank:
            rank[here] = len(rank)
            todo.extend(reversed(flow[here].inputs))
    return rank


def living_values(flow: Flow, roots: Iterable[int], without: Iterable[int] = ()) -> set[int]:
    """Everything that gradient flows to from here, on ways ``without`` these values."""
    seen = {*roots, *without}
    todo = [r for r in roots if r not in set(without)]
    while todo:
        op = flow[todo.pop()]
        for there in op.inputs:
            if there not in seen and flow[there].carries and not stops(flow[there], op):
                seen.add(there)
                todo.append(there)
    return seen


def ancestors(flow: Flow, op: int) -> set[int]:
    """Everything that a value was computed from, itself included."""
    seen = {op}
    todo = [op]
    while todo:
        for there in flow[todo.pop()].inputs:
            if there not in seen:
                seen.add(there)
                todo.append(there)
    return seen
