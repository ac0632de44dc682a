"""Evidence from TensorFlow's records: whether gradient flows depends on the tape that is asked."""

from __future__ import annotations

from typing import Any

from whygrad.frameworks.shared.evidence import Freezer
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Gate, Node, Param
from whygrad.frameworks.shared.objects import shown
from whygrad.frameworks.shared.records import BackwardRecord, Records
from whygrad.frameworks.shared.standing import Standing
from whygrad.frameworks.tensorflow.differentiating import Differentiation
from whygrad.frameworks.tensorflow.kinds import KINDS
from whygrad.frameworks.tensorflow.tapes import Tape
from whygrad.frameworks.tensorflow.values import Value


class TensorFlowFreezer(Freezer):
    """Asks each tape what it saw."""

    kinds = KINDS

    def __init__(self, records: Records, captured: dict[int, Where], standing: Standing) -> None:
        super().__init__(records)
        self._standing = standing
        self._captured = captured
        self._met.update((key, param) for key, param in records.params.items() if param.seen)
        self._handles = records.handles
        self._reached: dict[BackwardRecord, dict[int, Param]] = {}  # asked for or not
        self._carried: dict[BackwardRecord | None, dict[Node, bool]] = {}
        self._give_to_the_idle(records)
        living: dict[BackwardRecord, set[int]] = {b: self._reach(b) for b in records.pending}
        for optimizer in records.optimizers:
            for update in optimizer.updates:
                for backward in update.backwards:
                    if backward not in living:
                        living[backward] = self._reach(backward)
                if update.backwards:  # inside of a loop in a graph a cut gives zeros, not nothing
                    there = set().union(*map(self.reached, update.backwards)) - update.absent
                    update.zero |= there - set().union(*(living[b] for b in update.backwards))

    def _give_to_the_idle(self, records: Records) -> None:
        """An optimizer that was never used was meant for the gradients that nobody applies."""
        held = {key for optimizer in records.optimizers for key in optimizer.held}
        left = {k: p for b in records.pending if not b.follower for k, p in b.wanted.items() if k not in held}
        unused = [o for o in records.optimizers if not o.held]
        idle = [o for o in unused if o.ref() is not None] or unused  # a local of ``main()`` may be gone
        if idle and left:
            idle[0].held = left

    def reached(self, record: BackwardRecord) -> dict[int, Param]:
        """What a call on a tape would have reached, whatever it was asked for."""
        return self._reached.get(record, record.reached)

    def trainable(self, tensor: Any) -> bool:
        """A layer may have been frozen since."""
        return bool(shown(tensor, "trainable", True))

    def was_trainable(self, param: Param) -> bool:
        """Layers are frozen, and what is known of a layer is known of its variables."""
        return param.trained or param.frozen_at is None

    def moved(self, param: Param) -> bool:
        """Are its values others than before the first step?"""
        return self._standing.moved(param)

    def captured(self, param: Param) -> Where | None:
        """A traced function keeps what it captured."""
        return self._captured.get(param.key) if not param.seen else None

    def carries(self, node: Node, record: BackwardRecord | None) -> bool:
        """Does gradient of this call on a tape flow through the value?"""
        known = self._carried.setdefault(record, {})
        todo = [node]
        while todo:
            here = todo[-1]
            missing = [i for i in here.inputs if i not in known]
            if missing and here not in known:
                todo.extend(missing)
                continue
            todo.pop()
            if here not in known:
                known[here] = self._flows(here, record, known)
        return known[node]

    def _flows(self, node: Node, record: BackwardRecord | None, known: dict[Node, bool]) -> bool:
        tape = record.tape if isinstance(record, Differentiation) else None
        if node.parameter is not None:
            return True
        if tape is None or not isinstance(node, Value):
            return node.carries and any(known[i] for i in node.inputs)
        if node in tape.values:
            return True
        if not node.carries or not tape.saw(node):
            return False
        return any(known[i] and self._watched(i, tape) for i in node.inputs)

    def _watched(self, source: Node, tape: Tape) -> bool:
        param = source.parameter
        return param is None or tape.watches_all or self._handles.get(param.key, 0) in tape.handles

    def gate(self, node: Node, record: BackwardRecord | None) -> Gate | None:
        """Why the tape did not see the value."""
        tape = record.tape if isinstance(record, Differentiation) else None
        if tape is None or not isinstance(node, Value) or node.parameter is not None or node in tape.values:
            return None
        if not tape.saw(node):
            return tape.gate(node) if node.inputs else None
        if node.inputs and not any(self._watched(i, tape) for i in node.inputs):
            return tape.unwatched()
        return None

    def _reach(self, record: BackwardRecord) -> set[int]:
        """The variables that gradient arrives at, asked for or not."""
        reached: dict[int, Param] = {}
        todo = [root for root in record.roots if self.carries(root, record)]
        seen = set(todo)
        while todo:
            node = todo.pop()
            if node.parameter is not None:
                reached[node.parameter.key] = node.parameter
            for source in node.inputs:
                if source not in seen and self.carries(source, record):
                    seen.add(source)
                    todo.append(source)
        self._reached[record] = {**reached, **record.reached}
        return set(reached)
