"""Turns torch calls into nodes. Knows tensors; knows nothing of rules."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from whygrad.frameworks.shared.copies import note_origin
from whygrad.frameworks.shared.frames import Where, locate, stack
from whygrad.frameworks.shared.groups import Groups
from whygrad.frameworks.shared.nodes import Gate, Node, Param, Table, cone
from whygrad.frameworks.shared.objects import is_a, listed
from whygrad.frameworks.shared.values import Outside
from whygrad.frameworks.torch import graph, modules, native, private
from whygrad.frameworks.torch.axes import ALONG, axes_of
from whygrad.frameworks.torch.groups import extremes
from whygrad.frameworks.torch.kept_copies import LAYERS, adopt
from whygrad.frameworks.torch.kinds import KINDS
from whygrad.frameworks.torch.masks import holds_more, is_mask, looks_inverted, ones_in
from whygrad.frameworks.torch.ports import Writes
from whygrad.frameworks.torch.values import shape_of, values_of
from whygrad.frameworks.torch.views import gradient_behind, parameter_behind, share_marks
from whygrad.frameworks.torch.vocabulary import ARITHMETIC, SHAPED_LIKE, is_in_place, numbers_in, tensors_in
from whygrad.model import Kind


class Recorder:
    """The shadow graph of everything computed while recording is on."""

    def __init__(self) -> None:
        self.table = Table()
        self.outside = Outside()
        self.events: Writes  # set by the observer
        self.params: dict[int, Param] = {}
        self.probing = False  # something is wrong: look at the values too
        self.groups = Groups(KINDS)
        self.operations = 0  # since the last step
        self.hidden = False  # parameters took part in something that cannot be looked at
        self.acts: deque[Node] = deque(maxlen=16)  # left while gradients were off, through layers with modes
        self.modal = False  # there are such layers
        self._prune_at = 512

    # -- values ------------------------------------------------------------------------------------

    def node(self, tensor: Tensor, where: Where | None) -> Node:
        """The node of a tensor, made on first sight."""
        node = self.table.get(tensor)
        if node is None:
            node = self._first_sight(tensor, where)
            self.table.put(tensor, node)
        elif node.parameter is not None:
            node.carries = tensor.requires_grad  # it may have been frozen or thawed since
            _up_to_date(node.parameter, tensor)
        elif not node.carries and tensor.grad_fn is not None:
            node = self._custom_function(tensor, node, where)
        return node

    def _custom_function(self, tensor: Tensor, inner: Node, where: Where | None) -> Node:
        """The result of an ``autograd.Function``: made without gradient, then given one by its backward."""
        leaves = [n for n in cone((inner,)) if n.parameter is not None]
        if not leaves:  # it works in buffers (``out=``): autograd knows what it came from
            leaves = [self.node(leaf, where) for leaf in graph.leaves([tensor])]
        node = Node("autograd.Function", (*leaves, inner), where, True)
        node.shape, node.floating = inner.shape, inner.floating
        self.table.put(tensor, node)
        return node

    def _first_sight(self, tensor: Tensor, where: Where | None) -> Node:
        if tensor.is_leaf and (tensor.requires_grad or isinstance(tensor, torch.nn.Parameter)):
            return self.param(tensor, stack(sys._getframe(2))).node  # type: ignore[return-value]
        if tensor.grad_fn is not None:
            parents = tuple(self.node(leaf, where) for leaf in graph.leaves([tensor]))
            node = Node("unseen", parents, where, True)
        else:
            node = self._data(tensor, where)
        if self.probing:
            node.values = values_of(tensor)
        node.shape = shape_of(tensor)
        node.floating = tensor.is_floating_point()
        return node

    def _data(self, tensor: Tensor, where: Where | None) -> Node:
        """A tensor that was made where we could not see it: plain data, or a value that came back."""
        sources: list[Node] = []
        via = ""
        if tensor.device.type == "cpu" and tensor.layout == torch.strided and tensor.is_floating_point():
            address = _address(tensor)
            held = self.outside.at_address(address) if address is not None else None
            if held is not None:
                sources, via = [held], "memory"
            elif address is not None and 0 < tensor.numel() <= 4096:
                sources, via = self.outside.of_data(native.numbers(tensor, 64))
        node = Node("data", tuple(sources), where, False)
        node.fresh, node.via = True, via
        return node

    def param(self, tensor: Tensor, made: tuple[Where, ...] = ()) -> Param:
        """What is known of a leaf tensor that can be trained."""
        node = self.table.get(tensor)
        if node is not None and node.parameter is not None:
            return _up_to_date(node.parameter, tensor)
        proper = isinstance(tensor, torch.nn.Parameter)
        param = Param(tensor, made, proper, tensor.requires_grad, shape_of(tensor))
        leaf = node
        if leaf is None:
            leaf = Node("parameter", (), made[0] if made else None, tensor.requires_grad)
            self.table.put(tensor, leaf)
            origin = self._copy_at(tensor)
        else:
            origin = leaf  # torch.zeros(...) that was then asked to require a gradient
            param.made = param.made or ((leaf.where,) if leaf.where is not None else ())
        if origin is not None:
            note_origin(param, (origin,))
            if param.copied_from is not None and leaf is not origin:
                param.made = (origin.where,) if origin.where is not None else param.made
                self.events.copies.add(param.copied_from, param, origin.where, "deepcopy", 1.0)
        leaf.parameter, leaf.tainted, leaf.shape = param, True, param.shape
        param.node = leaf
        self.params[param.key] = param
        if len(self.params) > self._prune_at:
            self._prune()
        return param

    def _prune(self) -> None:
        """A script may make networks all day; forget those that are gone."""
        self.params = {key: p for key, p in self.params.items() if p.ref() is not None}
        self._prune_at = 2 * len(self.params) + 512

    def _copy_at(self, tensor: Tensor) -> Node | None:
        address = _address(tensor) if tensor.numel() else None
        return self.outside.copy_at(address) if address is not None else None

    # -- operations --------------------------------------------------------------------------------

    def inputs(self, values: Sequence[Any], where: Where | None) -> tuple[Node, ...]:
        """The nodes of all tensors (and recognised numbers) among the arguments of a call."""
        found: list[Node] = []
        for value in values:
            if is_a(value, Tensor):
                found.append(self.node(value, where))
            elif is_a(value, float):
                number = self.outside.of_number(value)
                if number is not None:
                    found.append(number)
            elif is_a(value, list, tuple):
                found.extend(self.node(item, where) for item in tensors_in(value))
        return tuple(found)

    def operation(
        self,
        name: str,
        arguments: Sequence[Any],
        result: Any,
        frame: FrameType,
        gate: Gate | None,
    ) -> None:
        """One call of a torch function: a node for each tensor that came out."""
        where = locate(frame)
        self.operations += 1
        if is_in_place(name):
            if arguments and is_a(arguments[0], Tensor):
                self._written(name, arguments, where, gate)
            elif name.startswith("_foreach") and arguments and is_a(arguments[0], list, tuple):
                self._written_each(name[8:], arguments, where, gate)
            return
        results = [result] if is_a(result, Tensor) else list(tensors_in(result))
        if not results:
            return
        if name in LAYERS:
            adopt(self, arguments, self.events.copies)
        inputs = self.inputs(arguments[:1] if name in SHAPED_LIKE else arguments, where)
        if name == "broadcast_tensors" and len(results) == len(inputs):
            for tensor, source in zip(results, inputs, strict=True):
                self._result(name, tensor, (source,), where, gate)
            return
        for tensor in results:
            self._result(name, tensor, inputs, where, gate)
        if name in ALONG and inputs:
            self._along(axes_of(name, arguments, len(inputs[0].shape)), results)
        elif name.strip("_") in ARITHMETIC:
            self._arithmetic(name, arguments, inputs, results[0], where)
        if len(results) > 1:
            share_marks([self.table.get(tensor) for tensor in results])
        if any(i.parameter is not None for i in inputs):
            self._used(inputs, arguments, frame, results)

    def _along(self, axes: tuple[int, ...], results: list[Tensor]) -> None:
        for tensor in results:
            made = self.table.get(tensor)
            if made is not None:
                made.axes = axes

    def _arithmetic(
        self,
        name: str,
        arguments: Sequence[Any],
        inputs: tuple[Node, ...],
        result: Tensor,
        where: Where | None,
    ) -> None:
        """The plain numbers in it, masks of data, groups without spread, clipped copies of gradients."""
        made = self.table.get(result)
        if made is None or not inputs:
            return
        made.numbers = numbers_in(arguments)
        if len(inputs) == 1:
            self.events.clipped_copy(name, inputs[0], made, where)
            made.odd = not made.tainted and is_mask(name.strip("_"), made.numbers) and holds_more(result)
        grouping = self.groups.of(made) if not made.carries else None
        if grouping is not None and is_a(arguments[0], Tensor):
            found = extremes(arguments[0], grouping)
            if found is not None:
                self.groups.note(made, *found)
        discount = len(inputs) == 1 and made.numbers and 0 < made.numbers[0] < 1  # 0.99 * mask
        if KINDS.of(name) is Kind.MULTIPLY and (discount or len(inputs) > 1):
            for value in arguments:
                node = self.table.get(value) if is_a(value, Tensor) else None
                if node is not None and not node.tainted:
                    node.odd = node.odd or ((discount or made.tainted) and looks_inverted(value))
                    node.ones = node.ones or ones_in(value)

    def in_mode(self, kwargs: dict[str, Any], result: Any) -> None:
        """Dropout or batch normalisation: in which mode? In evaluation, dropout gives back what went in."""
        node, training = self.table.get(result), kwargs.get("training")
        if node is not None and type(training) is bool and kwargs.get("p") != 0:
            node.training = training
            self.modal = True

    def gradient(self, owner: Tensor, grad: Tensor, frame: FrameType) -> None:
        """``p.grad`` was looked at: what is done with it is done to the gradient of ``p``."""
        held = self.table.get(owner)
        if held is None or held.parameter is None:
            return
        node = self.table.get(grad)
        if node is None or node.gradient is not held.parameter:
            node = Node("grad", (), locate(frame), False)
            node.shape, node.fresh, node.gradient = tuple(grad.shape), True, held.parameter
            self.table.put(grad, node)

    def _written_each(
        self, name: str, arguments: Sequence[Any], where: Where | None, gate: Gate | None
    ) -> None:
        """``torch._foreach_lerp_(targets, sources, tau)``: the same for each of them."""
        for index, target in enumerate(listed(arguments[0])):
            rest = [listed(a)[index] if is_a(a, list, tuple) else a for a in arguments[1:]]
            if is_a(target, Tensor):
                self._written(name, (target, *rest), where, gate)

    def _result(
        self, name: str, tensor: Tensor, inputs: tuple[Node, ...], where: Where | None, gate: Gate | None
    ) -> None:
        known = self.table.get(tensor)
        if known is not None and known in inputs:
            return  # .cpu(), .to(), .contiguous() gave the same tensor back
        carries = tensor.requires_grad
        if carries and tensor.is_leaf and not any(i.tainted for i in inputs):
            self.param(tensor, stack(sys._getframe(3)))  # torch.zeros(1, requires_grad=True)
            return
        node = Node(name, inputs, where, carries)
        node.shape = shape_of(tensor)
        node.floating = tensor.is_floating_point()
        if gate is not None and not carries:
            node.gate = gate
        self.table.put(tensor, node)
        if self.probing:
            node.values = values_of(tensor)
        if name == "clone" and where is not None and where.call().endswith("__deepcopy__"):
            self.outside.copied(tensor.data_ptr(), node)  # it will be wrapped into a parameter, unseen

    def _used(
        self, inputs: tuple[Node, ...], arguments: Sequence[Any], frame: FrameType, results: list[Tensor]
    ) -> None:
        """Parameters took part in a forward operation: which modules were running, at which version."""
        versions = []
        for value in tensors_in(list(arguments)):
            node = self.table.get(value)
            param = node.parameter if node is not None else None
            if param is not None:
                if param.modules is None:
                    param.modules = modules.running(frame)
                param.used = True
                versions.append((param, private.version(value)))
        for tensor in results:
            made = self.table.get(tensor)
            if made is not None and made.inputs == inputs:
                made.versions = tuple(versions)

    def unseen_use(self, arguments: Sequence[Any], frame: FrameType) -> None:
        """Parameters took part in something that cannot be looked at."""
        values = [private.unwrapped(value) for value in arguments if is_a(value, Tensor)]
        adopt(self, values, self.events.copies)
        for value in values:
            node = self.table.get(value)
            param = node.parameter if node is not None else None
            if param is not None:
                self.hidden = param.hidden = True
                if param.modules is None:
                    param.used, param.modules = True, modules.running(frame)

    def _written(self, name: str, arguments: Sequence[Any], where: Where | None, gate: Gate | None) -> None:
        """An in-place operation: the tensor is a new value from now on."""
        target = arguments[0]
        old = self.node(target, where)
        rest = self.inputs(arguments[1:], where)
        numbers = numbers_in(arguments[1:])
        gradient = gradient_behind(old)
        if gradient is not None:
            self.events.gradient_written(name, gradient, rest, where)
            return
        owner = parameter_behind(old)
        if owner is not None and (old.parameter is not None or not target.requires_grad):
            owner.writer = (name, where)
            note_origin(owner, rest)
            self.events.written(name, owner, rest, numbers, where)
            if old.parameter is None:
                self._replace(target, Node(name, (old, *rest), where, False), gate)
            return
        made = Node(name, (old, *rest), where, target.requires_grad)
        made.numbers = numbers
        self._replace(target, made, gate)
        base = private.base(target)
        if base is not None and base is not target:
            held = self.node(base, where)
            if held.parameter is None:
                self._replace(base, Node(name, (held, *rest), where, base.requires_grad), gate)

    def _replace(self, tensor: Tensor, node: Node, gate: Gate | None) -> None:
        old = self.table.get(tensor)
        if old is not None:
            old.overwritten = node
        node.shape, node.floating = shape_of(tensor), tensor.is_floating_point()
        if gate is not None and not node.carries:
            node.gate = gate
        self.table.put(tensor, node)

    def probe(self, parameters: Iterable[Tensor]) -> None:
        """From now on, look at what is in the values; now at what is in these."""
        self.probing = True
        for tensor in parameters:
            node = self.table.get(tensor)
            if node is not None:
                node.values = values_of(tensor)

    def unused_scalars(self, since: int) -> tuple[Node, ...]:
        """Living numbers with a gradient that no backward has gone through: losses left out."""
        return tuple(node for node in self.table.scalars(since) if not node.mark[0])[:16]


def _up_to_date(param: Param, tensor: Tensor) -> Param:
    """A lazy parameter gets its shape at its first use."""
    if not param.shape and param.node is not None:
        param.shape = param.node.shape = shape_of(tensor)
    return param


def _address(tensor: Tensor) -> int | None:
    """Where its numbers are; a functional or fake tensor has no memory."""
    try:
        return tensor.data_ptr()
    except RuntimeError:
        return None
