"""What the user calls things: a walk through their own variables that remembers what it met."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.scopes import Root, ours

_MOST = 20_000  # objects
DEEP = 6  # containers within containers
WIDE = 256  # networks with all their names

Todo = tuple[str, Any, int, str, str, str]  # name, value, depth, network, holder, how it is held
Aliases = list[tuple[tuple[str, ...], tuple[int, ...]]]  # names, and keys of the parameters they mean


@dataclass(frozen=True, slots=True)
class Name:
    """Where a parameter was found."""

    name: str
    network: str
    untracked_in: str = ""
    how: str = ""

    def give(self, param: Param) -> None:
        """This is the name of that parameter."""
        param.seen = True
        param.name, param.network = self.name, self.network
        param.untracked_in, param.untracked_how = self.untracked_in, self.how


class Walk(ABC):
    """Through variables and what they hold, nearest first. A framework says what it knows."""

    def __init__(self) -> None:
        self.optimizers: dict[int, str] = {}
        self.trouble = ""  # something was passed over, and that was our own fault
        self._seen: set[int] = set()

    def walk(self, roots: Iterable[Root]) -> None:
        """Look at these variables and at what they hold, the nearest first."""
        order = count()
        todo: list[tuple[int, int, Todo]] = [
            (far, next(order), (name, value, 0, "", "", "")) for name, value, far in roots
        ]
        heapify(todo)
        while todo and len(self._seen) < _MOST:
            far, _, here = heappop(todo)
            try:
                for held in self._met(*here):
                    heappush(todo, (far + 1, next(order), held))
            except Exception as error:  # what was met there is passed over, the rest is not
                self.trouble = self.trouble or ours(error)

    @abstractmethod
    def _met(self, name: str, value: Any, depth: int, network: str, holder: str, how: str) -> list[Todo]:
        """Remember it if it is one of the framework's; what it holds is to be looked at next."""


def together(container: Any, name: str, values: Iterable[tuple[bool, bool]]) -> str:
    """The network that plain tensors in one list or dict are: the container, if no network is in there.

    ``values`` says of each thing in it whether it is a tensor, and whether it is a network.
    """
    if not is_a(container, list, tuple, dict):
        return ""
    known = list(values)
    return name if sum(t for t, _ in known) > 1 and not any(n for _, n in known) else ""


def aliases(called: Iterable[tuple[Iterable[str], Iterable[int]]]) -> Aliases:
    """Of networks with all their names, those that go by several: ``target = online``."""
    found = ((tuple(names), tuple(keys)) for names, keys in called)
    return [(names, keys) for names, keys in found if len({n.rpartition(".")[2] for n in names}) > 1]
