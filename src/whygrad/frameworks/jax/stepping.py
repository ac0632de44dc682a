"""Steps: gradients that go through an optimizer of Optax, or a line of the user's own, into parameters."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol

import jax

from whygrad.frameworks.jax import loops, private
from whygrad.frameworks.jax.calls import Calls
from whygrad.frameworks.jax.differentiating import Differentiating, Differentiation
from whygrad.frameworks.jax.dropping import Dropping
from whygrad.frameworks.jax.lineages import Lineages
from whygrad.frameworks.jax.ports import Listener
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.jax.remembering import Remembering
from whygrad.frameworks.jax.values import Value, here, origin, unwrap
from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param, clock
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming, Window
from whygrad.frameworks.shared.records import OptimizerRecord, UpdateRecord

_FAR = 600


@dataclass(slots=True)
class _Round:
    """One step by hand, parameter by parameter."""

    update: UpdateRecord
    depth: int  # how often something was differentiated before it
    members: set[int] = field(default_factory=set)
    end: int = 0  # when the last of them was stepped


class Loop:
    """Stands for a line of the user's that steps, and is no object."""


class _Observer(Listener, Window, Naming, Protocol):
    def stepped(self) -> None: ...


class Stepping:
    """Everybody who steps."""

    def __init__(
        self,
        observer: _Observer,
        recorder: Recorder,
        lineages: Lineages,
        optimizers: Optimizers,
        attention: Attention,
        differentiating: Differentiating,
        calls: Calls,
    ) -> None:
        self._observer, self._recorder, self._lineages = observer, recorder, lineages
        self._optimizers, self._attention = optimizers, attention
        self._differentiating, self._calls = differentiating, calls
        self._by_hand: dict[Any, tuple[OptimizerRecord, Loop]] = {}
        self.dropping, self.remembering = Dropping(recorder), Remembering()
        self._rounds: dict[int, _Round] = {}
        self._given: deque[tuple[OptimizerRecord, Node]] = deque(maxlen=4096)
        self._under_way: dict[OptimizerRecord, None] = {}  # eager steps, recorded and not counted yet
        self._awaited: dict[OptimizerRecord, None] = {}  # the same of those that are not recorded
        self._led: dict[Where, set[OptimizerRecord]] = {}  # a line that differentiates -> who steps by hand

    # -- optimizers of Optax -----------------------------------------------------------------------

    def made(self, optimizer: Any, frame: FrameType) -> None:
        """A transformation of gradients; most of them are parts of another one."""
        self._optimizers.made(optimizer, here(frame))

    def begun(self, optimizer: Any, params: Any, frame: FrameType) -> None:
        """``tx.init(params)``: these are what it trains."""
        record = self._optimizers.record(optimizer)
        where = here(frame)
        for leaf in jax.tree_util.tree_leaves(params):
            if private.floating(leaf) and self._observer.recording():
                param = self._lineages.asked(leaf, where)
                record.held[param.key] = param
        self._observer.name_new_things(record.held.values(), frame)

    def updated(self, optimizer: Any, state: Any, result: Any, frame: FrameType) -> None:
        """``tx.update(...)``: what comes out is to be added to parameters."""
        if type(result) is not tuple or not result:
            return
        if not self._observer.recording():
            self._awaits(optimizer)
            return
        record = self._optimizers.record(optimizer)
        where, zero = here(frame), True
        for leaf in jax.tree_util.tree_leaves(result[0]):
            if private.shape_of(leaf) is None:
                continue
            node = self._recorder.node(leaf)
            value = Value("update", (node,), where, True)
            value.shape, value.graded, value.update_of = node.shape, True, record
            zero = zero and node.name == "mul" and node.numbers == (0.0,)
            self._recorder.put(leaf, value)
            self._given.append((record, value))
        self.remembering.updated(record, state, result, where)
        record.lr_always_zero = zero and (record.lr_always_zero or not record.recorded)

    # -- the step ----------------------------------------------------------------------------------

    def applied(self, params: Any, updates: Any, result: Any, frame: FrameType) -> None:
        """``optax.apply_updates(params, updates)``."""
        if not self._observer.recording():
            if self._awaited and not private.staging():
                self._count(self._awaited.popitem()[0])
            return
        leaves = [jax.tree_util.tree_leaves(tree) for tree in (params, updates, result)]
        if len({len(held) for held in leaves}) != 1:
            return
        where = here(frame)
        rows = [row for row in zip(*leaves, strict=True) if private.floating(row[0])]
        if not rows:
            return
        origins = {id(row): self._origins(row[1]) for row in rows}
        makers = [maker for row in rows for maker in origins[id(row)][1]]
        record = makers[0] if makers else self._hand(where)
        self._step(record, rows, {k: v[0] for k, v in origins.items()}, where, frame)

    def summed(self, value: Value, result: Any, operands: Sequence[Any]) -> None:
        """``p - lr * g``: a step, if one side is a parameter and the other was made of gradients."""
        if value.name not in ("add", "sub") or self._observer.thread.updating:
            return
        param = self._lineages.of(operands[0])
        other = operands[1]
        if param is None and value.name == "add":
            param, other = self._lineages.of(operands[1]), operands[0]
        if param is None or param.shape != value.shape:
            return
        found, makers = self._origins(other)
        if not found and not makers:
            return
        self._step_by_hand(param, result, found, makers, value.where, operands)

    def _step_by_hand(
        self,
        param: Param,
        result: Any,
        found: list[tuple[Differentiation, int]],
        makers: list[OptimizerRecord],
        where: Where | None,
        operands: Sequence[Any],
    ) -> None:
        record = makers[0] if makers else self._hand(where)
        known = self._rounds.get(record.key)
        depth = self._differentiating.count
        if known is None or known.depth != depth or param.key in known.members:
            if record in self._under_way and not private.staging():
                self._count(record)
                if not self._observer.recording():
                    self._under_way[record] = None
                    return
            known = self._rounds[record.key] = _Round(self._open(record, where, [found]), depth)
            if not private.staging():
                self._under_way[record] = None
                for backward in known.update.backwards[-1:] if record.by_hand else ():
                    if backward.where is not None:
                        self._led.setdefault(backward.where, set()).add(record)
        known.members.add(param.key)
        self._note(record, known.update, param, found)
        before = operands[0] if self._lineages.of(operands[0]) is param else operands[1]
        self._carry_on((record.key, param.key), known.update, param, before, result, where)
        known.end = clock()

    # -- counting ----------------------------------------------------------------------------------

    def _count(self, record: OptimizerRecord) -> None:
        """An eager step is over."""
        self._under_way.pop(record, None)
        self._attention.step_taken(record, self._observer)
        if record.key in self._rounds:
            record.last_step = self._rounds[record.key].end  # the next one has begun since
        self._observer.stepped()

    def _awaits(self, optimizer: Any) -> None:
        """An eager step is not recorded. It is counted when it is applied, or when the next one comes."""
        record = self._optimizers.of(optimizer)
        if record is None or not record.steps or private.staging():
            return
        if record in self._awaited:
            self._count(record)
        self._awaited[record] = None

    def unseen(self, frame: FrameType) -> None:
        """Something is differentiated, and not recorded: whoever steps by hand after it does so again."""
        if self._led and not private.staging():
            where = here(frame)
            for record in self._led.get(where, ()) if where is not None else ():
                if record in self._under_way:
                    self._optimizers.count(record)  # the one before, which was recorded
                self._count(record)

    def finish(self) -> None:
        """The last steps are over, too."""
        for record in (*self._under_way, *self._awaited):
            self._optimizers.count(record)
        self._under_way.clear()
        self._awaited.clear()

    def _hand(self, where: Where | None) -> OptimizerRecord:
        lines = tuple((p.code, p.line) for p in (where, *where.outer)) if where is not None else ()
        known = self._by_hand.get(lines)
        if known is None:
            loop = Loop()
            record = OptimizerRecord(loop, where)
            record.kind, record.by_hand = "update by hand", True
            self._optimizers.add(record)
            known = self._by_hand[lines] = (record, loop)
        return known[0]

    def _step(
        self,
        record: OptimizerRecord,
        rows: list[tuple[Any, Any, Any]],
        origins: dict[int, list[tuple[Differentiation, int]]],
        where: Where | None,
        frame: FrameType,
    ) -> None:
        update = self._open(record, where, list(origins.values()))
        for row in rows:
            param = self._lineages.asked(row[0], where)
            found = origins[id(row)]
            self._note(record, update, param, found)
            if not found:  # others have a gradient in this step: this part is frozen on purpose
                for backward in update.backwards:
                    backward.applied |= {param.key} & backward.reached.keys()
            self._carry_on((record.key, param.key), update, param, row[0], row[2], where)
        self._observer.name_new_things(record.held.values(), frame)
        if not private.staging():
            self._attention.step_taken(record, self._observer)
            self._observer.stepped()

    def _carry_on(
        self,
        key: tuple[int, int],
        update: UpdateRecord,
        param: Param,
        before: Any,
        result: Any,
        where: Where | None,
    ) -> None:
        """``result`` is its next version."""
        start = origin(self._recorder.node(before))
        version = self._lineages.version(param, result, where, start)
        self.dropping.stepped(key, update, before, result, version)
        self.remembering.stepped(key, update, start, before, result, version)

    def traced(self, jaxpr: Any) -> None:
        """A function was traced."""
        self.dropping.traced(jaxpr)
        self.remembering.traced(jaxpr)

    def suspects(self) -> bool:
        """Shall some more calls of compiled functions be looked at?"""
        dropped, forgot = self.dropping.suspects(), self.remembering.suspects()
        return dropped or forgot

    def _open(
        self,
        record: OptimizerRecord,
        where: Where | None,
        origins: Iterable[list[tuple[Differentiation, int]]],
    ) -> UpdateRecord:
        """One update more."""
        backwards = {backward: None for found in origins for backward, _ in found}
        chosen = tuple(sorted(backwards, key=lambda b: b.time))
        update = UpdateRecord(record.steps + 1, where, frozenset(), frozenset(), chosen, record.last_step)
        for backward in chosen:
            backward.follower = backward.follower or record.key
            backward.followed = update.time
        if private.staging():
            record.traced = True
            self._calls.steps(record, update, loops.rounds())
        record.keep(update)
        return update

    def _note(
        self,
        record: OptimizerRecord,
        update: UpdateRecord,
        param: Param,
        found: list[tuple[Differentiation, int]],
    ) -> None:
        """This parameter is stepped with these gradients."""
        record.held[param.key] = param
        param.trained = True
        param.writer = None
        own = [backward for backward, key in found if key == param.key]
        for backward in own:
            backward.applied.add(param.key)
        if found and not own:
            update.crossed |= {(param.key, found[0][1])}
        arrives = any(key in backward.reached for backward, key in found)
        if own:
            arrives = any(param.key in backward.reached for backward in own)
        if not arrives and (found or not update.backwards):
            update.absent |= {param.key}
        if record.absent_always is None:
            record.absent_always = update.absent
        elif record.recorded == 1:
            record.absent_always |= update.absent

    def _origins(self, value: Any) -> tuple[list[tuple[Differentiation, int]], list[OptimizerRecord]]:
        """The gradients that an update comes from, nearest first, and the optimizers on the way."""
        base, tags, staged = unwrap(value)
        first = self._recorder.known(base, tags, staged)
        todo = deque([first] if first is not None else [])
        seen = set(todo)
        found: dict[tuple[Differentiation, int], None] = {}
        makers: dict[OptimizerRecord, None] = {}
        while todo and len(seen) < _FAR:
            node = todo.popleft()
            if isinstance(node, Value):
                if node.gradient_of is not None:
                    found[node.gradient_of] = None
                    continue
                if node.update_of is not None:
                    makers[node.update_of] = None
            for source in node.inputs:
                if source not in seen and getattr(source, "graded", False):
                    seen.add(source)
                    todo.append(source)
        return list(found), list(makers)
