"""Numbers, lists and arrays that came out of tensors, recognised when they come back.

A Python float has no identity to follow, so a value is recognised by what is exact: the same array
object, the same memory, or the same number to the last bit. Nothing weaker is used here.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.objects import is_a, listed, plain_array, plain_float

_MOST_NUMBERS = 8192
_MOST_ARRAYS = 512
_MOST_EXITS = 256
_TRIVIAL = frozenset((0.0, 1.0, -1.0, 0.5, 2.0))


class Outside:
    """What has left the framework lately."""

    def __init__(self) -> None:
        self._numbers: OrderedDict[float, Node] = OrderedDict()
        self._memory: OrderedDict[int, tuple[weakref.ref[Any], Node]] = OrderedDict()
        self._copies: OrderedDict[int, Node] = OrderedDict()
        self.exits: deque[Node] = deque(maxlen=_MOST_EXITS)

    def copied(self, address: int, node: Node) -> None:
        """A deep copy has put a copy of the value ``node`` here."""
        self._copies[address] = node
        if len(self._copies) > _MOST_NUMBERS:
            self._copies.popitem(last=False)

    def copy_at(self, address: int) -> Node | None:
        """The value that a deep copy has put here."""
        return self._copies.get(address)

    def number(self, value: Any, node: Node) -> None:
        """This number was read from the value ``node``."""
        found = plain_float(value)
        if found is not None and found not in _TRIVIAL and found == found:
            self._numbers[found] = node
            if len(self._numbers) > _MOST_NUMBERS:
                self._numbers.popitem(last=False)

    def numbers(self, values: Any, node: Node, most: int = 256) -> None:
        """These (nested) numbers were read from the value ``node``."""
        for value in _flat(values, most):
            self.number(value, node)

    def array(self, array: Any, node: Node) -> None:
        """This numpy array was read from the value ``node``."""
        try:
            address = int(array.__array_interface__["data"][0])
            ref = weakref.ref(array)
        except (AttributeError, TypeError):
            return
        self._memory[address] = (ref, node)
        if len(self._memory) > _MOST_ARRAYS:
            self._memory.popitem(last=False)
        if array.size <= 64 and array.dtype.kind == "f":
            self.numbers(array.ravel().tolist(), node)

    def at_address(self, address: int) -> Node | None:
        """The value whose memory this is, while the array that shared it lives."""
        entry = self._memory.get(address)
        if entry is None:
            return None
        if entry[0]() is None:
            del self._memory[address]
            return None
        return entry[1]

    def of_number(self, value: Any) -> Node | None:
        """The value that this very number was read from, or its negative: ``-log_prob.item()``."""
        found = plain_float(value)
        if found is None:
            return None
        return self._numbers.get(found) or self._numbers.get(-found)

    def of_data(self, data: Any) -> tuple[list[Node], str]:
        """The values that an array, a number or a nested list was made of, and how we know."""
        array = plain_array(data)
        if array is not None:
            data = array.ravel()[:64].tolist() if array.dtype.kind == "f" else ()
        while array is not None:  # a view keeps the memory of its base
            node = self.at_address(int(array.__array_interface__["data"][0]))
            if node is not None:
                return [node], "memory"
            array = plain_array(array.base)
        found: dict[int, Node] = {}
        for value in _flat(data, 256):
            node = self.of_number(value)
            if node is not None:
                found[id(node)] = node
                if len(found) >= 8:
                    break
        return list(found.values()), "value" if found else ""


def _flat(values: Any, most: int) -> Iterator[Any]:
    """The leaves of nested lists and tuples, at most so many."""
    stack: list[Iterable[Any]] = [iter(listed(values) if is_a(values, list, tuple) else (values,))]
    while stack and most > 0:
        for value in stack[-1]:
            if is_a(value, list, tuple):
                stack.append(iter(listed(value)))
            else:
                yield value
                most -= 1
            break
        else:
            stack.pop()
