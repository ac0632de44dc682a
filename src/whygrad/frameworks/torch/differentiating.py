"""Calls that differentiate: what they started from, what they reached, what became of the gradients."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from itertools import islice
from math import isfinite
from types import FrameType
from typing import Any

import torch

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.figures import look_back
from whygrad.frameworks.shared.frames import Where, locate
from whygrad.frameworks.shared.nodes import Node, Param, cone
from whygrad.frameworks.shared.objects import is_a, listed
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming
from whygrad.frameworks.shared.records import BackwardRecord, HandoverRecord
from whygrad.frameworks.torch import distributed, graph, modules, native, private, shares
from whygrad.frameworks.torch.events import Events
from whygrad.frameworks.torch.numbers import TorchNumbers
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.values import scalar, values_of
from whygrad.frameworks.torch.vocabulary import tensors_in

_SAVES_ITS_RESULT = frozenset(
    ("softmax", "log_softmax", "tanh", "sigmoid", "exp", "sqrt", "rsqrt", "relu", "elu", "selu", "celu")
)

_MOST = 512  # parameters whose gradient was assigned; then those that are gone are forgotten
_NEAR = 32  # values behind a gradient, and lines that hand gradients over


class Backwards:
    """The recorded backwards of late."""

    def __init__(
        self,
        naming: Naming,
        recorder: Recorder,
        events: Events,
        optimizers: Optimizers,
        attention: Attention,
    ) -> None:
        self._naming, self._recorder, self._events = naming, recorder, events
        self._optimizers, self._attention = optimizers, attention
        self.pending: deque[BackwardRecord] = deque(maxlen=64)
        self.live: deque[BackwardRecord] = deque(maxlen=64)  # those that left a gradient which is still there
        self.assigned: dict[int, tuple[Param, Where | None]] = {}  # p.grad = g, by hand
        self._tidy_at = _MOST
        self.handovers: dict[Where | None, HandoverRecord] = {}
        self.count = 0
        self.hooked = False  # somebody's own hooks would run twice if the graph were walked twice

    def begins(self, name: str, args: Any, kwargs: Any, frame: FrameType) -> BackwardRecord:
        """``backward`` or ``autograd.grad`` is about to run: what will it reach?"""
        where = locate(frame)
        first = args[0] if args else next(iter(kwargs.values()))
        roots = [first] if is_a(first, torch.Tensor) else list(tensors_in(first))
        nodes = tuple(self._recorder.node(root, where) for root in roots)
        reached = {p.key: p for p in map(self._recorder.param, graph.leaves(roots))}
        wanted: dict[int, Param] = {}
        asked = args[1] if name == "autograd.grad" and len(args) > 1 else kwargs.get("inputs")
        if asked is not None:
            tensors = [asked] if is_a(asked, torch.Tensor) else list(tensors_in(list(asked)))
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
        record.acts = self._acts()
        record.value = scalar(roots[0]) if len(roots) == 1 else None
        if record.value is not None and not isfinite(record.value):
            look_back(self._recorder.table, nodes, values_of)
        since = next((b.time for b in reversed(self.pending) if b.reached.keys() & reached.keys()), 0)
        self._events.backward_begins(reached, nodes, since)
        if name == "backward" and len(roots) == 1 and self._may_measure(args, kwargs, where):
            record.shares, record.unmeasured = shares.measure(roots[0], nodes[0], reached)
        elif self.hooked:
            record.unmeasured = "hooks would have run twice"
        self.pending.append(record)
        self.live.append(record)
        self._naming.name_new_things(reached.values(), frame)
        return record

    def _may_measure(self, args: Any, kwargs: Any, where: Where | None) -> bool:
        """Twice per line, and only a plain ``loss.backward()``."""
        asked = ("gradient", "inputs", "grad_tensors", "grad_variables")
        plain = len(args) == 1 and not any(kwargs.get(name) is not None for name in asked)
        plain = plain and not kwargs.get("create_graph")
        if self.hooked or not plain or torch.is_anomaly_enabled():
            return False
        return self._attention.measures_shares(where)

    def unused_gradients(self, keys: Iterable[int]) -> frozenset[int]:
        """Of these parameters, those with a gradient that no step has used and nobody has cleared."""
        asked = set(keys)
        return frozenset(k for b in self.live for k in (b.reached.keys() & asked) - b.cleared - b.applied)

    def _stale(self, reached: dict[int, Param]) -> frozenset[int]:
        """Gradients that a step has already used and that are still there: this backward adds to them."""
        used = {key for b in self.live for key in (b.applied | b.handed) - b.cleared}
        found = set()
        for key in used & reached.keys():
            tensor = reached[key].ref()
            grad = tensor.grad if tensor is not None else None
            if grad is not None and (grad.is_sparse or native.item(native.any_of(grad))):
                found.add(key)
        return frozenset(found)

    def _exits(self) -> tuple[Node, ...]:
        """What has left the framework since everybody's last step."""
        since = self._optimizers.last_step()
        return tuple(node for node in self._recorder.outside.exits if node.time > since)

    def _acts(self) -> tuple[Node, ...]:
        """The same while gradients were off, as far as a layer with modes took part."""
        since = self._optimizers.last_step()
        return tuple(node for node in self._recorder.acts if node.time > since)

    def ends(self, record: BackwardRecord, name: str, args: Any, result: Any, frame: FrameType) -> None:
        """It has run."""
        for param in record.reached.values():
            # An input that asks for gradients is new each time.
            param.asked += param.asked_at != self._optimizers.steps
            param.asked_at = self._optimizers.steps
        todo = [root for root in record.roots if not root.mark[0]]
        while todo:
            node = todo.pop()
            if not node.mark[0] and node.carries and node.parameter is None:
                node.mark[0] = record.number
                todo.extend(node.inputs)
        if name == "autograd.grad":
            self._recorder.operation(name, args, result, frame, None)
            self._given_out(record, args, result)
        elif distributed.rank() >= 0:
            tensors = {key: t for key, p in record.reached.items() if (t := p.ref()) is not None}
            record.sums = distributed.sums(tensors)

    def _given_out(self, record: BackwardRecord, args: Any, result: Any) -> None:
        """How large they are: nobody else has these gradients."""
        asked = args[1] if len(args) > 1 else ()
        asked = [asked] if is_a(asked, torch.Tensor) else listed(asked) if is_a(asked, list, tuple) else []
        if len(asked) == len(result):
            pairs = [(self._recorder.table.get(t), g) for t, g in zip(asked, result, strict=True)]
            found = {n.parameter.key: g for n, g in pairs if n is not None and n.parameter and g is not None}
            record.largest = TorchNumbers().largest(found)

    def failed(self, record: BackwardRecord, error: BaseException) -> None:
        """It raised. Which of the values that it needed have been overwritten, and by whom?"""
        record.error = f"{type(error).__name__}: {error}"
        for node in cone(record.roots):
            for param, version in node.versions:
                tensor = param.ref()
                if tensor is not None and private.version(tensor) != version and param.writer is not None:
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
            self._events.cleared((node.parameter,), locate(frame), "grad = None")
        else:
            held = self._recorder.table.get(value)
            self._events.put_back((held,) if held is not None else ())
            if len(self.assigned) >= self._tidy_at:
                self.assigned = {k: pair for k, pair in self.assigned.items() if pair[0].ref() is not None}
                self._tidy_at = 2 * len(self.assigned) + _MOST
            self.assigned[node.parameter.key] = (node.parameter, locate(frame))
            self.handed_over(node.parameter, (held,) if held is not None else (), locate(frame))

    def taken_by_hand(self, values: Iterable[Node]) -> list[Param]:
        """Somebody writes these into gradients or weights: the gradients behind them have been of use."""
        owners = [node.gradient for node in islice(cone(values), _NEAR) if node.gradient is not None]
        keys = {owner.key for owner in owners}
        for backward in self.pending if keys else ():
            backward.taken |= backward.reached.keys() & keys
        return owners

    def handed_over(self, target: Param, values: Iterable[Node], where: Where | None) -> None:
        """What was put into the gradient of ``target``: is it that of another parameter?"""
        for source in self.taken_by_hand(values):
            if source is not target and source.shape == target.shape:
                line = self.handovers.get(where)
                if line is None and len(self.handovers) < _NEAR:
                    line = self.handovers[where] = HandoverRecord(where)
                if line is not None:
                    line.add(source, target)

    def stepped_on(self, held: Iterable[int]) -> None:
        """A step uses the gradients of these: also those that were handed over to them."""
        keys = set(held)
        sources = {k for line in self.handovers.values() if line.targets.keys() & keys for k in line.sources}
        for backward in self.live if sources else ():
            backward.handed |= (backward.reached.keys() & sources) - backward.cleared

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
        for tensor in modules.cleared_by(owner):
            self.grad_assigned(tensor, None, sys._getframe(1))
