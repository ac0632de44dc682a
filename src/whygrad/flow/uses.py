"""Who uses a value: the flow, read from the parameters to the loss."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.model import Flow, Op
from whygrad.model.kinds import REDUCTIONS

_FAR = 10
_MOST = 60


class Uses:
    """Which operations a value goes into."""

    def __init__(self, flow: Flow) -> None:
        self._users: dict[int, list[Op]] = {}
        for op in flow.ops.values():
            for i in dict.fromkeys(op.inputs):
                self._users.setdefault(i, []).append(op)

    def of(self, op: Op) -> list[Op]:
        """The operations that it goes into."""
        return self._users.get(op.id, [])

    def onwards(self, op: Op, ends: frozenset[object] = REDUCTIONS) -> Iterator[tuple[Op, Op]]:
        """A value and who uses it, as far as it is near; not beyond operations of these kinds."""
        todo, seen = [(op, _FAR)], {op.id}
        while todo:
            here, far = todo.pop()
            for user in self.of(here):
                yield here, user
                if user.kind not in ends and user.id not in seen and far and len(seen) < _MOST:
                    seen.add(user.id)
                    todo.append((user, far - 1))
