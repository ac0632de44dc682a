"""Evidence from JAX's records: whether gradient flows depends on what a call was asked for."""

from __future__ import annotations

from typing import Any

from whygrad.frameworks.jax.differentiating import Differentiation
from whygrad.frameworks.jax.kinds import KINDS
from whygrad.frameworks.jax.values import Value
from whygrad.frameworks.shared.evidence import Freezer
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.records import BackwardRecord, Records


class JaxFreezer(Freezer):
    """Asks each call that differentiates which values were its own."""

    kinds = KINDS

    def __init__(self, records: Records, stale: dict[int, Where]) -> None:
        super().__init__(records)
        self._stale = stale
        self._carried: dict[BackwardRecord | None, dict[Node, bool]] = {}
        self._met.update((key, param) for key, param in records.params.items() if param.seen)

    def trainable(self, tensor: Any) -> bool:
        """An array is what it is."""
        return True

    def was_trainable(self, param: Param) -> bool:
        """The same."""
        return True

    def captured(self, param: Param) -> Where | None:
        """Where a compiled function took a version that has been stepped since."""
        return self._stale.get(param.key)

    def carries(self, node: Node, record: BackwardRecord | None) -> bool:
        """Does gradient of this call flow through the value?"""
        known = self._carried.setdefault(record, {})
        todo = [node]
        under_way: set[Node] = set()
        while todo:
            here = todo[-1]
            missing = [i for i in here.inputs if i not in known and i not in under_way]
            if missing and here not in known:
                under_way.add(here)
                todo.extend(missing)
                continue
            todo.pop()
            if here not in known:
                known[here] = self._flows(here, record, known)
        return known[node]

    def _flows(self, node: Node, record: BackwardRecord | None, known: dict[Node, bool]) -> bool:
        if node.parameter is not None:
            own = isinstance(record, Differentiation) and node.parameter.key in record.wanted
            return not own or (isinstance(record, Differentiation) and node in record.leaves)
        if not isinstance(node, Value) or not node.passes:
            return False
        return any(known.get(i, False) for i in node.inputs)
