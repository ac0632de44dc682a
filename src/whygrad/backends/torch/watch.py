"""Watches a running script: hooks, windows of recording, optimizers and their updates."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import torch
from torch.nn.modules import module as torch_module
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._device import DeviceContext

from whygrad.backends.torch import graph, schedule
from whygrad.backends.torch.frames import Where, locate, stack
from whygrad.backends.torch.mode import Mode, gate_at
from whygrad.backends.torch.names import Names, variables
from whygrad.backends.torch.nodes import Gate, Node, Param, clock
from whygrad.backends.torch.patches import Patches
from whygrad.backends.torch.recorder import Recorder, tensors_in
from whygrad.backends.torch.records import BackwardRecord, OptimizerRecord, UpdateRecord

_SAVES_ITS_RESULT = frozenset(
    ("softmax", "log_softmax", "tanh", "sigmoid", "exp", "sqrt", "rsqrt", "relu", "elu", "selu", "celu")
)
_MOST_OPERATIONS = 400_000  # without a single step: enough of a rollout


class _Thread(threading.local):
    mode: Mode | None = None
    stepping: bool = False
    gate: Gate | None = None  # where the user turned gradients off
    outer: Gate | None = None


class Watch:
    """Everything that happens between attach and detach."""

    def __init__(
        self, namespace: Callable[[], Mapping[str, Any]], on_step: Callable[[], None] | None
    ) -> None:
        self.recorder = Recorder()
        self.optimizers: dict[int, OptimizerRecord] = {}
        self.pending: deque[BackwardRecord] = deque(maxlen=64)
        self.steps = 0
        self.backwards = 0
        self.unseen: dict[str, Where | None] = {}  # what could not be observed, and where
        self.failure: tuple[str, str, str, Where | None, tuple[Node, ...]] | None = None
        self.assigned: dict[int, tuple[Param, Where | None]] = {}  # p.grad = g, by hand
        self.aside: str = ""
        self._namespace = namespace
        self._on_step = on_step
        self._thread = _Thread()
        self._patches = Patches()
        self._hooks: list[Any] = []
        self._recording = True
        self._compiled = False
        self._pid = os.getpid()
        self._unnamed = True
        self._profile: Any = None

    # -- attach and detach -------------------------------------------------------------------------

    def start(self) -> None:
        """Put the hooks in and begin to record in this thread and in every new one."""
        self._patches.wrap(torch.optim.Optimizer, "__init__", self._optimizer_init)
        self._patches.wrap(torch.nn.Module, "load_state_dict", self._load_state_dict)
        self._patches.wrap(torch.set_grad_enabled, "__init__", self._grad_mode)
        self._patches.wrap(torch.inference_mode, "__enter__", self._inference_enter)
        self._patches.wrap(torch.inference_mode, "__exit__", self._inference_exit)
        self._patches.wrap(torch, "compile", self._compile)
        self._patches.wrap(torch.nn.Module, "compile", self._compile)
        self._hooks = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
            torch_module.register_module_parameter_registration_hook(self._parameter_registered),
            torch_module.register_module_module_registration_hook(self._module_registered),
        ]
        self._profile = threading.getprofile()
        if self._profile is None:
            threading.setprofile(self._new_thread)
        self._enter()

    def stop(self) -> None:
        """Take everything out again."""
        self._recording = False
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._patches.restore()
        if threading.getprofile() == self._new_thread:
            threading.setprofile(self._profile)  # type: ignore[arg-type]
        self._leave()

    def stepped_aside(self, error: BaseException) -> None:
        """Our own failure: stop recording, keep what there is, say so at the end."""
        if not self.aside:
            self.aside = f"{type(error).__name__}: {error}"
        self._recording = False
        if self._thread.mode is not None:
            self._thread.mode.on = False

    def forked(self) -> None:
        """In a forked child: nothing is watched there."""
        self._on_step = None
        self._recording = False
        self._leave()

    # -- the interceptor of this thread ------------------------------------------------------------

    def _new_thread(self, frame: FrameType, event: str, argument: Any) -> None:
        sys.setprofile(None)
        if self._recording:
            self._enter()

    def _enter(self) -> None:
        """Enter the mode, but never between somebody else's modes: they leave in their own order."""
        if self._thread.mode is not None:
            self._thread.mode.on = True
            return
        if self._compiled or self.aside or not _only_device_modes():
            return
        mode = Mode(self)
        mode.__enter__()
        self._thread.mode = mode

    def _leave(self) -> None:
        mode = self._thread.mode
        if mode is None:
            return
        mode.on = False
        if torch.overrides._get_current_function_mode() is mode:
            mode.__exit__(None, None, None)
            self._thread.mode = None

    def stepping(self) -> bool:
        """Inside an optimizer's own arithmetic?"""
        return self._thread.stepping

    def recording(self) -> bool:
        """Is this thread being recorded?"""
        mode = self._thread.mode
        return self._recording and (self._compiled or (mode is not None and mode.on))

    # -- patches -----------------------------------------------------------------------------------

    def _optimizer_init(self, original: Any) -> Any:
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            self._safely(self._optimizer_made, optimizer, locate(sys._getframe(1)))

        return __init__

    def _optimizer_made(self, optimizer: Any, where: Where | None) -> None:
        record = OptimizerRecord(optimizer, where)
        self.optimizers[id(optimizer)] = record
        record.held = self._held(optimizer)

    def _load_state_dict(self, original: Any) -> Any:
        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            self._safely(self._loaded, module)
            return result

        return load_state_dict

    def _loaded(self, module: torch.nn.Module) -> None:
        for parameter in module.parameters():
            self.recorder.param(parameter).loaded = True

    def _grad_mode(self, original: Any) -> Any:
        """``no_grad``, ``enable_grad`` and ``set_grad_enabled`` all come through here."""

        def __init__(block: Any, mode: bool) -> None:
            self._switched(mode, sys._getframe(1))
            original(block, mode)

        return __init__

    def _switched(self, on: bool, frame: FrameType) -> None:
        thread = self._thread
        inside = frame.f_code.co_name
        if on:
            thread.outer, thread.gate = thread.gate, None
        elif inside == "__exit__":
            thread.gate = thread.outer  # the end of an enable_grad block
        elif thread.gate is None and (inside != "__enter__" or self.recording()):
            thread.gate = gate_at(frame)

    def _inference_enter(self, original: Any) -> Any:
        def __enter__(block: Any) -> Any:
            if getattr(block, "mode", True) and self._thread.gate is None and self.recording():
                self._thread.gate = gate_at(sys._getframe(1), "inference_mode")
            return original(block)

        return __enter__

    def _inference_exit(self, original: Any) -> Any:
        def __exit__(block: Any, *error: Any) -> Any:
            result = original(block, *error)
            if torch.is_grad_enabled():
                self._thread.gate = None
            return result

        return __exit__

    def gate(self) -> Gate | None:
        """Where the user turned gradients off, if they are off now."""
        return self._thread.gate if not torch.is_grad_enabled() else None

    def _compile(self, original: Any) -> Any:
        def compile(*args: Any, **kwargs: Any) -> Any:
            self.unseen.setdefault("torch.compile", locate(sys._getframe(1)))
            if not self._compiled:
                self._compiled = True
                self._leave()
                self._patches.wrap(torch.Tensor, "backward", self._plain_backward)
            return original(*args, **kwargs)

        return compile

    def _plain_backward(self, original: Any) -> Any:
        """Compiled code is left alone; what ``backward`` reaches is asked of autograd all the same."""

        def backward(*args: Any, **kwargs: Any) -> Any:
            if not self._recording:
                return original(*args, **kwargs)
            frame = sys._getframe(1)
            return self.differentiate(original, "backward", args, kwargs, frame, _plain_call)

        return backward

    # -- modules and parameters --------------------------------------------------------------------

    def _parameter_registered(self, module: Any, name: str, parameter: Any) -> None:
        if isinstance(parameter, torch.Tensor):
            self._safely(self._register, module, name, parameter, sys._getframe(2))

    def _register(self, module: Any, name: str, parameter: Any, frame: FrameType) -> None:
        param = self.recorder.param(parameter, stack(frame))
        old = module._parameters.get(name)
        if old is not None and old is not parameter:
            param.replaced_at = locate(frame)

    def _module_registered(self, module: Any, name: str, child: Any) -> None:
        old = module._modules.get(name)
        if old is not None and old is not child and isinstance(child, torch.nn.Module):
            self._safely(self._replaced, child, sys._getframe(2))

    def _replaced(self, child: torch.nn.Module, frame: FrameType) -> None:
        where = locate(frame)
        for parameter in child.parameters():
            self.recorder.param(parameter, stack(frame)).replaced_at = where

    def requires_grad(self, tensor: torch.Tensor, flag: bool, frame: FrameType) -> None:
        """``requires_grad = ...`` or ``requires_grad_(...)``."""
        where = locate(frame)
        node = self.recorder.table.get(tensor)
        if node is not None and node.parameter is not None:
            node.parameter.frozen_at = None if flag else where
        elif not flag:
            if isinstance(tensor, torch.nn.Parameter):
                self.recorder.param(tensor, stack(frame)).frozen_at = where
        elif tensor.is_leaf and (node is None or not node.tainted) and tensor.ndim:
            self.recorder.param(tensor, stack(frame))
        elif tensor.is_leaf:
            asked = Node("requires_grad_", (node,) if node is not None else (), where, True)
            asked.shape = tuple(tensor.shape)
            self.recorder.table.put(tensor, asked)

    def grad_assigned(self, tensor: torch.Tensor, value: Any, frame: FrameType) -> None:
        """``p.grad = None`` forgets what earlier backwards left there."""
        node = self.recorder.table.get(tensor)
        if node is None and value is not None and tensor.is_leaf:
            node = self.recorder.node(tensor, locate(frame))
        if node is None or node.parameter is None:
            return
        if value is None:
            for backward in self.pending:
                backward.cleared.add(node.parameter.key)
        else:
            self.assigned[node.parameter.key] = (node.parameter, locate(frame))

    def cleared_by(self, owner: Any) -> None:
        """``zero_grad(set_to_none=False)`` of an optimizer or a module."""
        groups = getattr(owner, "param_groups", None)
        tensors = [p for g in groups for p in g["params"]] if groups else list(owner.parameters())
        for tensor in tensors:
            self.grad_assigned(tensor, None, sys._getframe(1))

    # -- differentiating ---------------------------------------------------------------------------

    def differentiate(
        self, func: Any, name: str, args: Any, kwargs: Any, frame: FrameType, call: Callable[..., Any]
    ) -> Any:
        """Run ``backward`` or ``autograd.grad`` and note what it reached."""
        record = None
        try:
            record = self._backward_begins(name, args, kwargs, frame)
        except Exception as error:
            self.stepped_aside(error)
        try:
            result = call(func, args, kwargs)
        except BaseException as error:
            if record is not None:
                record.error = f"{type(error).__name__}: {error}"
                self._safely(self._backward_failed, record)
            raise
        if record is not None:
            self._safely(self._backward_ends, record, name, args, result, frame)
        return result

    def _backward_begins(self, name: str, args: Any, kwargs: Any, frame: FrameType) -> BackwardRecord:
        where = locate(frame)
        first = args[0] if args else next(iter(kwargs.values()))
        roots = [first] if isinstance(first, torch.Tensor) else list(tensors_in(first))
        nodes = tuple(self.recorder.node(root, where) for root in roots)
        reached = {p.key: p for p in map(self.recorder.param, graph.leaves(roots))}
        wanted: dict[int, Param] = {}
        asked = args[1] if name == "autograd.grad" and len(args) > 1 else kwargs.get("inputs")
        if asked is not None:
            tensors = [asked] if isinstance(asked, torch.Tensor) else list(tensors_in(list(asked)))
            wanted = {
                p.key: p for t in tensors if t.is_leaf and t.requires_grad for p in (self.recorder.param(t),)
            }
            reached = {key: p for key, p in reached.items() if key in wanted}
        for param in reached.values():
            if not param.asked:
                param.writer = None  # what was written before the first gradient was its initial value
        self.backwards += 1
        record = BackwardRecord(
            where,
            nodes,
            reached,
            wanted,
            self._exits(),
            self.backwards,
        )
        self.pending.append(record)
        if any(not p.name for p in reached.values()):
            self.name_things(frame)
        return record

    def _exits(self) -> tuple[Node, ...]:
        """What has left the framework since everybody's last step."""
        since = min((r.last_step for r in self.optimizers.values() if r.steps), default=0)
        return tuple(node for node in self.recorder.outside.exits if node.time > since)

    def _backward_ends(
        self, record: BackwardRecord, name: str, args: Any, result: Any, frame: FrameType
    ) -> None:
        for param in record.reached.values():
            param.asked += param.asked_at != self.steps  # an input that asks for gradients is new each time
            param.asked_at = self.steps
        todo = [root for root in record.roots if not root.mark[0]]
        while todo:
            node = todo.pop()
            if not node.mark[0] and node.carries and node.parameter is None:
                node.mark[0] = record.number
                todo.extend(node.inputs)
        if name == "autograd.grad":
            self.recorder.operation(name, args, result, frame, None)

    def _backward_failed(self, record: BackwardRecord) -> None:
        """Which of the values that this backward needed have been overwritten, and by whom?"""
        for node in self.recorder.cone(record.roots):
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

    def operation_failed(
        self, name: str, args: Any, kwargs: Any, frame: FrameType, error: BaseException
    ) -> None:
        """A torch function raised: remember it, it may be what ends the script."""
        where = locate(frame)
        inputs = self.recorder.inputs((*args, *kwargs.values()), where)
        self.failure = (type(error).__name__, str(error), name, where, inputs)

    # -- steps -------------------------------------------------------------------------------------

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if os.getpid() == self._pid and not self.aside:
            self._safely(self._step_begins, optimizer, args, kwargs, sys._getframe(1))

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._thread.stepping = not any(callable(a) for a in (*args[1:], *kwargs.values()))
        record = self.optimizers.get(id(optimizer))
        if record is None or record.ref() is not optimizer:
            record = self.optimizers[id(optimizer)] = OptimizerRecord(optimizer, None)
            record.held = self._held(optimizer)
        if record.lr_always_zero:
            record.lr_always_zero = all(float(g.get("lr", 1)) == 0 for g in optimizer.param_groups)
        if self._thread.stepping:
            self._look(optimizer, record, frame)

    def _look(self, optimizer: Any, record: OptimizerRecord, frame: FrameType) -> None:
        """The gradients, as the optimizer is about to use them."""
        absent = frozenset(id(p) for g in optimizer.param_groups for p in g["params"] if p.grad is None)
        changed = absent != record.absent_last
        record.absent_last = absent
        if record.absent_always is None or record.absent_always:
            record.absent(absent)
        if self.recording():
            self._record_update(optimizer, record, frame)
        elif changed or not record.steps:
            record.held = self._held(optimizer)
        record.changed = changed

    def _record_update(self, optimizer: Any, record: OptimizerRecord, frame: FrameType) -> None:
        where = locate(frame)
        record.held = held = self._held(optimizer)
        if self._unnamed or not record.name or any(not p.name for p in held.values()):
            self.name_things(frame)
        absent, zero = set(), set()
        for key, param in held.items():
            tensor = param.ref()
            grad = tensor.grad if tensor is not None else None
            if grad is None:
                absent.add(key)
            else:
                param.trained = True
                if not grad.is_sparse and not bool(grad.any()):
                    zero.add(key)
            param.writer = ((record.name or "optimizer") + ".step()", where)
        for backward in self.pending:
            hit = (backward.reached.keys() & held.keys()) - backward.cleared
            if hit:
                backward.applied |= hit
                backward.consumers.add(record.key)
        backwards = self._led_to(record)
        if absent and backwards and not backwards[-1].unused:
            backwards[-1].unused = self.recorder.unused_scalars(record.last_step)
        update = UpdateRecord(
            record.steps + 1, where, frozenset(absent), frozenset(zero), backwards, record.last_step
        )
        record.keep(update)

    def _led_to(self, record: OptimizerRecord) -> tuple[BackwardRecord, ...]:
        """The backwards that this step is the consequence of, as far as one can tell."""
        since = [b for b in self.pending if b.time > record.last_step and not b.error]
        for backward in since:
            backward.follower = backward.follower or record.key
        mine = [b for b in since if b.reached.keys() & record.held.keys()]
        next_to = [b for b in since if b.follower == record.key]
        if not mine and not next_to and since:  # several optimizers step in a row after several backwards
            next_to = [b for b in since if b.follower == since[-1].follower]
        chosen = mine + [b for b in next_to if b not in mine]
        return tuple(sorted(chosen, key=lambda b: b.time))

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if os.getpid() != self._pid:
            return
        if not self.aside:
            self._safely(self._step_ends, optimizer, sys._getframe(1))
        if self._on_step is not None:
            self._on_step()

    def _step_ends(self, optimizer: Any, frame: FrameType) -> None:
        record = self.optimizers[id(optimizer)]
        if not self._thread.stepping:  # it came with a closure: the gradients are those of its last call
            self._look(optimizer, record, frame)
        self._thread.stepping = False
        record.steps += 1
        self.steps += 1
        record.last_step_number = self.steps
        if self.recording():
            record.last_step = clock()
            self.recorder.operations = 0
        if schedule.wants(record, record.changed) and not self.recording():
            self._open_window()
        elif self._recording and schedule.satisfied(self.optimizers.values(), self.steps):
            self._recording = False
        if not self._recording:
            self._leave()

    def _open_window(self) -> None:
        if self.aside:
            return
        if not self._recording:
            self.recorder.table.forget_data()
            self.pending.clear()
        self._recording = True
        self._enter()

    def _held(self, optimizer: Any) -> dict[int, Param]:
        tensors = [p for g in optimizer.param_groups for p in g["params"]]
        params = [self.recorder.param(tensor) for tensor in tensors]
        record = self.optimizers.get(id(optimizer))
        if record is not None:
            record.keys.update((id(t), p.key) for t, p in zip(tensors, params, strict=True))
        return {param.key: param for param in params}

    # -- names -------------------------------------------------------------------------------------

    def name_things(self, frame: FrameType | None) -> None:
        """Find the user's names for parameters and optimizers, in scope at ``frame``."""
        names = Names()
        names.walk([(n, v) for n, v in self._namespace().items() if not n.startswith("__")])
        names.walk(variables(frame))
        for param in self.recorder.params.values():
            tensor = param.ref()
            found = names.tensors.get(id(tensor)) if tensor is not None else None
            if frame is not None:
                param.seen = found is not None
            if found is not None and (frame is not None or not param.name):
                param.seen = True
                param.name, param.network = found.name, found.network
                param.untracked_in, param.untracked_how = found.untracked_in, found.how
                param.captured = found.how == "compiled"
                self._outside_its_module(param, tensor, names)
        for record in self.optimizers.values():
            record.name = names.optimizers.get(id(record.ref()), record.name)
        self._unnamed = False

    def _outside_its_module(self, param: Param, tensor: Any, names: Names) -> None:
        """Used in the forward pass of a module that does not list it among its parameters?"""
        if param.untracked_in or not param.modules:
            return
        for ref in param.modules:
            module = ref()
            if module is None or type(module).__module__.startswith("torch."):
                continue
            if not any(p is tensor for p in module.parameters()):
                param.untracked_in = names.modules.get(id(module), type(module).__name__)
                param.untracked_how = "outside the module"
            return

    def _safely(self, note: Callable[..., None], *arguments: Any) -> None:
        try:
            note(*arguments)
        except Exception as error:
            self.stepped_aside(error)


def _plain_call(func: Any, args: Any, kwargs: Any) -> Any:
    return func(*args, **kwargs)


def _only_device_modes() -> bool:
    """True if nobody but a default device is on torch's stack of function modes."""
    depth = torch._C._len_torch_function_stack()
    return all(isinstance(torch._C._get_function_stack_at(i), DeviceContext) for i in range(depth))
