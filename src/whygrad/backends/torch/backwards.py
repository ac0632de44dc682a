"""Calls that differentiate: what they started from, what they reached, what became of the gradients."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from math import isfinite
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from whygrad.backends.recording.frames import Where, locate
from whygrad.backends.recording.nodes import Node, Param, cone
from whygrad.backends.recording.records import BackwardRecord
from whygrad.backends.torch import graph, shares
from whygrad.backends.torch.values import look_back, scalar
from whygrad.backends.torch.vocabulary import tensors_in

if TYPE_CHECKING:
    from whygrad.backends.torch.watch import Watch

_SAVES_ITS_RESULT = frozenset(
    ("softmax", "log_softmax", "tanh", "sigmoid", "exp", "sqrt", "rsqrt", "relu", "elu", "selu", "celu")
)


_MEASURED = 2  # backwards per line for which the shares of the terms are measured


class Backwards:
    """The recorded backwards of late."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._recorder = watch.recorder
        self.pending: deque[BackwardRecord] = deque(maxlen=64)
        self.live: deque[BackwardRecord] = deque(maxlen=64)  # those that left a gradient which is still there
        self.assigned: dict[int, tuple[Param, Where | None]] = {}  # p.grad = g, by hand
        self.count = 0
        self.hooked = False  # somebody's own hooks would run twice if the graph were walked twice
        self._measured: dict[Where | None, int] = {}

    def differentiate(
        self, func: Any, name: str, args: Any, kwargs: Any, frame: FrameType, call: Callable[..., Any]
    ) -> Any:
        """Run ``backward`` or ``autograd.grad`` and note what it reached."""
        record = None
        try:
            record = self._begins(name, args, kwargs, frame)
        except Exception as error:
            self._watch.stepped_aside(error)
        try:
            result = call(func, args, kwargs)
        except BaseException as error:
            if record is not None:
                record.error = f"{type(error).__name__}: {error}"
                self._watch.safely(self._failed, record)
            raise
        if record is not None:
            self._watch.safely(self._ends, record, name, args, result, frame)
        return result

    def _begins(self, name: str, args: Any, kwargs: Any, frame: FrameType) -> BackwardRecord:
        where = locate(frame)
        first = args[0] if args else next(iter(kwargs.values()))
        roots = [first] if isinstance(first, torch.Tensor) else list(tensors_in(first))
        nodes = tuple(self._recorder.node(root, where) for root in roots)
        reached = {p.key: p for p in map(self._recorder.param, graph.leaves(roots))}
        wanted: dict[int, Param] = {}
        asked = args[1] if name == "autograd.grad" and len(args) > 1 else kwargs.get("inputs")
        if asked is not None:
            tensors = [asked] if isinstance(asked, torch.Tensor) else list(tensors_in(list(asked)))
            wanted = {
                p.key: p for t in tensors if t.is_leaf and t.requires_grad for p in (self._recorder.param(t),)
            }
            reached = {key: p for key, p in reached.items() if key in wanted}
        for param in reached.values():
            if not param.asked:
                param.writer = None  # what was written before the first gradient was its initial value
        self.count += 1
        record = BackwardRecord(
            where,
            nodes,
            reached,
            wanted,
            self._exits(),
            self.count,
        )
        record.stale = self._stale(reached)
        record.value = scalar(roots[0]) if len(roots) == 1 else None
        if record.value is not None and not isfinite(record.value):
            look_back(self._recorder.table, nodes)
        since = next((b.time for b in reversed(self.pending) if b.reached.keys() & reached.keys()), 0)
        self._watch.events.backward_begins(reached, nodes, since)
        if name == "backward" and len(roots) == 1 and self._may_measure(args, kwargs, where):
            record.shares, record.unmeasured = shares.measure(roots[0], nodes[0], reached)
        elif self.hooked:
            record.unmeasured = "hooks would have run twice"
        self.pending.append(record)
        self.live.append(record)
        self._watch.name_new_things(reached.values(), frame)
        return record

    def _may_measure(self, args: Any, kwargs: Any, where: Where | None) -> bool:
        """Twice per line, and only a plain ``loss.backward()``."""
        asked = ("gradient", "inputs", "grad_tensors", "grad_variables")
        plain = len(args) == 1 and not any(kwargs.get(name) is not None for name in asked)
        plain = plain and not kwargs.get("create_graph")
        times = self._measured.get(where, 0)
        if self.hooked or not plain or times >= _MEASURED or torch.is_anomaly_enabled():
            return False
        self._measured[where] = times + 1
        return True

    def unused_gradients(self, keys: Iterable[int]) -> frozenset[int]:
        """Of these parameters, those with a gradient that no step has used and nobody has cleared."""
        asked = set(keys)
        return frozenset(k for b in self.live for k in (b.reached.keys() & asked) - b.cleared - b.applied)

    def _stale(self, reached: dict[int, Param]) -> frozenset[int]:
        """Gradients that a step has already used and that are still there: this backward adds to them."""
        used = {key for b in self.live for key in b.applied - b.cleared}
        found = set()
        for key in used & reached.keys():
            tensor = reached[key].ref()
            grad = tensor.grad if tensor is not None else None
            if grad is not None and (grad.is_sparse or bool(grad.any())):
                found.add(key)
        return frozenset(found)

    def _exits(self) -> tuple[Node, ...]:
        """What has left the framework since everybody's last step."""
        since = min((r.last_step for r in self._watch.optimizers.values() if r.steps), default=0)
        return tuple(node for node in self._recorder.outside.exits if node.time > since)

    def _ends(self, record: BackwardRecord, name: str, args: Any, result: Any, frame: FrameType) -> None:
        for param in record.reached.values():
            param.asked += (
                param.asked_at != self._watch.steps
            )  # an input that asks for gradients is new each time
            param.asked_at = self._watch.steps
        todo = [root for root in record.roots if not root.mark[0]]
        while todo:
            node = todo.pop()
            if not node.mark[0] and node.carries and node.parameter is None:
                node.mark[0] = record.number
                todo.extend(node.inputs)
        if name == "autograd.grad":
            self._recorder.operation(name, args, result, frame, None)

    def _failed(self, record: BackwardRecord) -> None:
        """Which of the values that this backward needed have been overwritten, and by whom?"""
        for node in cone(record.roots):
            for param, version in node.versions:
                tensor = param.ref()
                if tensor is not None and tensor._version != version and param.writer is not None:
                    record.changed.append((node, param.name or "a parameter", *param.writer))
            writer = node.overwritten
            if writer is not None and node.carries and node.name in _SAVES_ITS_RESULT:
                record.changed.append((node, node.name, writer.name, writer.where))
            for source in node.inputs if node.carries else ():
                writer = source.overwritten
                if writer is not None and writer is not node and node.time < writer.time < record.time:
                    record.changed.append((node, source.name, writer.name, writer.where))

    def grad_assigned(self, tensor: torch.Tensor, value: Any, frame: FrameType) -> None:
        """``p.grad = None`` forgets what earlier backwards left there."""
        node = self._recorder.table.get(tensor)
        if node is None and value is not None and tensor.is_leaf:
            node = self._recorder.node(tensor, locate(frame))
        if node is None or node.parameter is None:
            return
        if value is None:
            self.forget((node.parameter.key,))
            self._watch.events.cleared((node.parameter,), locate(frame), "grad = None")
        else:
            held = self._recorder.table.get(value)
            self._watch.events.put_back((held,) if held is not None else ())
            self.assigned[node.parameter.key] = (node.parameter, locate(frame))

    def forget(self, keys: Iterable[int]) -> None:
        """The gradients of these parameters are gone."""
        gone = set(keys)
        for backward in self.live:
            backward.cleared |= gone
        if any(b.reached.keys() <= b.cleared for b in self.live):
            self.live = deque((b for b in self.live if not b.reached.keys() <= b.cleared), maxlen=64)

    def since(self, time: int) -> list[BackwardRecord]:
        """Those after this moment that did not fail."""
        found: list[BackwardRecord] = []
        for backward in reversed(self.pending):
            if backward.time <= time:
                break
            if not backward.error:
                found.append(backward)
        return found[::-1]

    def cleared_by(self, owner: Any) -> None:
        """``zero_grad(set_to_none=False)`` of an optimizer or a module."""
        groups = getattr(owner, "param_groups", None)
        tensors = [p for g in groups for p in g["params"]] if groups else list(owner.parameters())
        for tensor in tensors:
            self.grad_assigned(tensor, None, sys._getframe(1))
