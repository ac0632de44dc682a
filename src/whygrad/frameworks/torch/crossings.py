"""Values that leave torch as plain numbers and arrays, and data that comes in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from types import FrameType
from typing import Any

from torch import Tensor

from whygrad.frameworks.shared.frames import locate, stack
from whygrad.frameworks.shared.nodes import Gate, Node, cone
from whygrad.frameworks.shared.objects import is_a, plain_array
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.values import values_of
from whygrad.frameworks.torch.vocabulary import tensors_in

_NEAR = 64  # values behind one that leaves


class Crossings:
    """The border between tensors and plain data, as the recorder hears of it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def left(self, name: str, tensor: Tensor, value: Any, frame: FrameType, gate: Gate | None) -> None:
        """A value leaves the framework as a number, a list or an array."""
        recorder, where = self._recorder, locate(frame)
        source = recorder.node(tensor, where)
        if not source.tainted:
            return
        recorder.operations += 1
        consumed = source.consumed
        node = Node(name, (source,), where, False)
        source.consumed = consumed  # a number to print is not a use
        node.left, node.gate = True, gate
        if is_a(value, float, list):
            recorder.outside.numbers(value, node)
        elif plain_array(value) is not None:
            recorder.outside.array(value, node)
        if gate is None:
            recorder.outside.exits.append(node)
        elif recorder.modal and any(n.training is not None for n in islice(cone((source,)), _NEAR)):
            recorder.acts.append(node)

    def entered(self, name: str, arguments: Sequence[Any], result: Any, frame: FrameType) -> None:
        """Plain data becomes a tensor: ``torch.tensor``, ``as_tensor``, ``new_tensor``."""
        if not is_a(result, Tensor) or not arguments:
            return
        recorder, where = self._recorder, locate(frame)
        data = arguments[-1] if name == "new_tensor" else arguments[0]
        if data is result:
            return
        recorder.operations += 1
        if is_a(data, Tensor):
            sources, via = [recorder.node(data, where)], "tensor"
        else:
            sources = [recorder.node(t, where) for t in tensors_in(data)]
            via = "tensor" if sources else ""
            if not sources:
                sources, via = recorder.outside.of_data(data)
        tainted = any(s.tainted for s in sources)
        if result.requires_grad and not tainted and result.ndim:
            recorder.param(result, stack(frame))
            return
        node = Node(name, tuple(sources), where, result.requires_grad)
        node.fresh, node.via = True, via
        node.shape, node.floating = tuple(result.shape), result.is_floating_point()
        recorder.table.put(result, node)
        if recorder.probing:
            node.values = values_of(result)
