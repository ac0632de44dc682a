"""Watches a running script: attaches to torch, opens and closes windows of recording."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import torch
from torch.nn.modules import module as torch_module
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._device import DeviceContext

from whygrad.backends.recording.frames import Where, locate, stack
from whygrad.backends.recording.freeze import Failure, Records
from whygrad.backends.recording.nodes import Node, Param
from whygrad.backends.recording.patches import Patches
from whygrad.backends.recording.records import OptimizerRecord
from whygrad.backends.recording.scopes import variables
from whygrad.backends.torch.backwards import Backwards
from whygrad.backends.torch.events import Events
from whygrad.backends.torch.health import broken
from whygrad.backends.torch.mode import Mode
from whygrad.backends.torch.names import Names
from whygrad.backends.torch.recorder import Recorder
from whygrad.backends.torch.steps import Steps
from whygrad.backends.torch.summaries import Summaries
from whygrad.backends.torch.switches import Switches
from whygrad.watch.watching import Watching


class _Thread(threading.local):
    mode: Mode | None = None
    resting: Mode | None = None  # taken out for the time of an optimizer's own arithmetic


class Watch:
    """Everything that happens between attach and detach."""

    def __init__(
        self, namespace: Callable[[], Mapping[str, Any]], on_step: Callable[[], None] | None = None
    ) -> None:
        self.recorder = Recorder()
        self.optimizers: dict[int, OptimizerRecord] = {}
        self.events = self.recorder.events = Events(self)
        self.backwards = Backwards(self)
        self.switches = Switches(self)
        self.stepping = Steps(self)
        self.summaries: Summaries | None = None  # if somebody wants them
        self.steps = 0
        self.aliases: list[tuple[tuple[str, ...], tuple[int, ...]]] = []  # two names for the same parameters
        self.unseen: dict[str, Where | None] = {}  # what could not be observed, and where
        self.failure: Failure | None = None
        self.aside: str = ""
        self.on_step = self._always = on_step
        self.pid = os.getpid()
        self.naming = threading.RLock()
        self._namespace = namespace
        self._thread = _Thread()
        self._patches = Patches()
        self._hooks: list[Any] = []
        self.active: bool = True  # may any thread be recorded now?
        self._compiled = False
        self._named: set[int] = set()  # parameters for which names were looked up
        self._profile: Any = None

    # -- attach and detach -------------------------------------------------------------------------

    def start(self) -> None:
        """Put the hooks in and begin to record in this thread and in every new one."""
        self._patches.wrap(torch.optim.Optimizer, "__init__", self._optimizer_init)
        self._patches.wrap(torch.nn.Module, "load_state_dict", self._load_state_dict)
        self._patches.wrap(torch, "compile", self._compile)
        self._patches.wrap(torch.nn.Module, "compile", self._compile)
        self._patches.wrap(torch.autograd.graph.saved_tensors_hooks, "__enter__", self._saved_hooks)
        self._patches.wrap(torch, "from_numpy", self._from_numpy)
        self.switches.install(self._patches)
        self.events.install(self._patches)
        self._hooks = [
            register_optimizer_step_pre_hook(self.stepping.before),
            register_optimizer_step_post_hook(self.stepping.after),
            torch_module.register_module_parameter_registration_hook(self._parameter_registered),
            torch_module.register_module_module_registration_hook(self._module_registered),
        ]
        self._profile = threading.getprofile()
        if self._profile is None:
            threading.setprofile(self._new_thread)
        self._enter()

    def stop(self) -> None:
        """Take everything out again."""
        self._activate(False)
        if self.summaries is not None:
            self.summaries.remove()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._patches.restore()
        if threading.getprofile() == self._new_thread:
            threading.setprofile(self._profile)
        self._leave()

    def summarise(self, watching: Watching | None) -> None:
        """Summarise updates from now on, or no longer."""
        if self.summaries is not None:
            self.summaries.remove()
            self.summaries = None
        if watching is not None:
            self.summaries = Summaries(self, watching)
            self.summaries.install()

    def stepped_aside(self, error: BaseException) -> None:
        """Our own failure: stop recording, keep what there is, say so at the end."""
        if not self.aside:
            self.aside = f"{type(error).__name__}: {error}"
        self._activate(False)
        if self._thread.mode is not None:
            self._thread.mode.on = False

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this once, in the thread that makes the next step."""

        def once() -> None:
            self.on_step = self._always
            call()
            if self._always is not None:
                self._always()

        self.on_step = once
        for record in list(self.optimizers.values()):
            record.quiet_until = 0

    def forked(self) -> None:
        """In a forked child: nothing is watched there."""
        self.on_step = self._always = None
        self._activate(False)
        if self.summaries is not None:
            self.summaries.remove()
        self._leave()

    # -- the interceptor of this thread ------------------------------------------------------------

    def _new_thread(self, frame: FrameType, event: str, argument: Any) -> None:
        sys.setprofile(None)
        if self.active:
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

    def rest(self) -> bool:
        """An optimizer does its arithmetic now: hundreds of calls, none of them the user's.

        True if there was something to put to rest.
        """
        mode = self._thread.mode
        if mode is None or torch.overrides._get_current_function_mode() is not mode:
            return False
        mode.__exit__(None, None, None)
        self._thread.mode, self._thread.resting = None, mode
        return True

    def resume(self) -> None:
        """The step is over, or it has raised and the next one begins."""
        mode = self._thread.resting
        if mode is not None:
            self._thread.resting = None
            if _only_device_modes():
                mode.__enter__()
                self._thread.mode = mode

    def recording(self) -> bool:
        """Is this thread being recorded?"""
        if not self.active:
            return False
        mode = self._thread.mode
        return self._compiled or (mode is not None and mode.on)

    def _activate(self, flag: bool) -> None:
        self.active = self.switches.alert = flag
        self.events.quiet = not flag and all(r.clears for r in list(self.optimizers.values()) if r.steps)

    @property
    def is_open(self) -> bool:
        """Is there a thread that may be recorded?"""
        return self.active or self._thread.mode is not None

    def open_window(self) -> None:
        """Record from now on."""
        if self.aside or self.recording():
            return
        if not self.active:
            self.recorder.table.forget_data()
            self.recorder.probing = False
            self.backwards.pending.clear()
            self.backwards.live.clear()
            for record in self.optimizers.values():
                record.quiet_until = record.looked_until = 0
        self._activate(True)
        self._enter()

    def close_window(self) -> None:
        """Enough for now: from here on only the step hooks run."""
        self._activate(False)
        self._leave()

    def pause(self) -> None:
        """A very long rollout: wait for the next step. (A mode cannot leave while it is being asked.)"""
        self._activate(False)
        if self._thread.mode is not None:
            self._thread.mode.on = False

    # -- patches -----------------------------------------------------------------------------------

    def _optimizer_init(self, original: Any) -> Any:
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            self.safely(self.stepping.made, optimizer, locate(sys._getframe(1)))

        return __init__

    def _load_state_dict(self, original: Any) -> Any:
        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            self.safely(self._loaded, module, args, kwargs, sys._getframe(1))
            return result

        return load_state_dict

    def _loaded(self, module: torch.nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        for parameter in module.parameters():
            self.recorder.param(parameter).loaded = True
        if not self.recording():
            state = args[0] if args else kwargs.get("state_dict")
            self.events.loaded(module, state, locate(frame))

    def _from_numpy(self, original: Any) -> Any:
        """No function mode is told of it: without this, data is first seen where it is used."""

        def from_numpy(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if self.recording():
                self.safely(self._arrived, result, sys._getframe(1))
            return result

        return from_numpy

    def _arrived(self, tensor: torch.Tensor, frame: FrameType) -> None:
        with torch._C.DisableTorchFunction():  # a look into it is not the user's
            self.recorder.node(tensor, locate(frame))

    def _saved_hooks(self, original: Any) -> Any:
        """Checkpointing and its like: a graph that runs the user's code when it is walked."""

        def __enter__(block: Any) -> Any:
            self.backwards.hooked = True
            return original(block)

        return __enter__

    def _compile(self, original: Any) -> Any:
        ref = weakref.ref(self)  # torch keeps lists of its functions: ours must not keep us alive

        def compile(*args: Any, **kwargs: Any) -> Any:
            watch = ref()
            if watch is not None:
                watch._compiles(sys._getframe(1))
            return original(*args, **kwargs)

        return compile

    def _compiles(self, frame: FrameType) -> None:
        self.unseen.setdefault("torch.compile", locate(frame))
        if not self._compiled:
            self._compiled = True
            self._leave()
            self._patches.wrap(torch.Tensor, "backward", self._plain_backward)

    def _plain_backward(self, original: Any) -> Any:
        """Compiled code is left alone; what ``backward`` reaches is asked of autograd all the same."""

        def backward(*args: Any, **kwargs: Any) -> Any:
            if not self.active:
                return original(*args, **kwargs)
            frame = sys._getframe(1)
            return self.backwards.differentiate(original, "backward", args, kwargs, frame, _plain_call)

        return backward

    # -- modules and parameters --------------------------------------------------------------------

    def _parameter_registered(self, module: Any, name: str, parameter: Any) -> None:
        if isinstance(parameter, torch.Tensor):
            self.safely(self._register, module, name, parameter, sys._getframe(2))

    def _register(self, module: Any, name: str, parameter: Any, frame: FrameType) -> None:
        param = self.recorder.param(parameter, stack(frame))
        old = module._parameters.get(name)
        if old is not None and old is not parameter:
            param.replaced_at = locate(frame)

    def _module_registered(self, module: Any, name: str, child: Any) -> None:
        old = module._modules.get(name)
        if old is not None and old is not child and isinstance(child, torch.nn.Module):
            self.safely(self._replaced, child, sys._getframe(2))

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

    def operation_failed(
        self, name: str, args: Any, kwargs: Any, frame: FrameType, error: BaseException
    ) -> None:
        """A torch function raised: remember it, it may be what ends the script."""
        where = locate(frame)
        inputs = self.recorder.inputs((*args, *kwargs.values()), where)
        self.failure = (type(error).__name__, str(error), name, where, inputs)

    # -- names -------------------------------------------------------------------------------------

    def name_new_things(self, params: Iterable[Param], frame: FrameType) -> None:
        """Look for names again if there is somebody whom no earlier look was for."""
        keys = {p.key for p in params if not p.name}
        if not self._named or not keys <= self._named:
            self._named |= keys | {0}
            self.name_things(frame)

    def name_things(self, frame: FrameType | None) -> None:
        """Find the user's names for parameters and optimizers, in scope at ``frame``."""
        with self.naming:
            names = Names()
            for scope in variables(self._namespace(), frame):
                names.walk(scope)
            params = list(self.recorder.params.values())
            names.give(params, in_scope=frame is not None)
            self.aliases = names.aliases(params) or self.aliases
            for record in list(self.optimizers.values()):
                record.name = names.optimizers.get(id(record.ref()), record.name)

    def records(self) -> Records:
        """What there is so far."""
        records = list(self.optimizers.values())
        for record in records:
            record.pulses.at_the_end(record.steps, [k for k, p in list(record.held.items()) if broken(p)])
        return Records(
            optimizers=records,
            pending=list(self.backwards.pending),
            assigned=dict(self.backwards.assigned),
            failure=self.failure,
            gate=self.switches.gate(),
            captured=self.unseen.get("torch.compile"),
            clips=[*self.events.clips, *self.events.dropped.values()],
            clears=list(self.events.clears),
            copies=list(self.events.copies.values()),
            aliases=self.aliases,
        )

    def safely(self, note: Callable[..., None], *arguments: Any) -> None:
        """Our own failure is never the user's."""
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
