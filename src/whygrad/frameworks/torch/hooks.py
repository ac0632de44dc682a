"""Where whygrad stands in torch: what stays for the whole run, and whom it tells."""

from __future__ import annotations

import os
import sys
import weakref
from types import FrameType
from typing import Any, Protocol

import torch
from torch.nn.modules import module as torch_module
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from whygrad import doors
from whygrad.doors import door, read_as
from whygrad.frameworks.shared.frames import locate, plain_call, stack, trampoline
from whygrad.frameworks.shared.nodes import clock
from whygrad.frameworks.shared.objects import is_a, own
from whygrad.frameworks.shared.ports import Recording, Safety
from whygrad.frameworks.torch import emptiness, modules, private
from whygrad.frameworks.torch.by_hand import ByHand
from whygrad.frameworks.torch.compiled import CompiledCalls, TorchPatches, unread
from whygrad.frameworks.torch.differentiating import Backwards
from whygrad.frameworks.torch.events import Events
from whygrad.frameworks.torch.grad_mode import Switches
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.stepping import Steps
from whygrad.frameworks.torch.tracing import alone, traced
from whygrad.frameworks.torch.training_modes import TrainingModes


class _Observer(Safety, Recording, Protocol):
    def compiles(self, frame: FrameType) -> bool: ...
    def lose_sight(self) -> None: ...
    def stepped(self) -> None: ...
    def given_nothing(self, kind: str, asked: emptiness.Asked, frame: FrameType) -> None: ...


class Hooks:
    """All patches and hooks of torch that stay for the whole run."""

    def __init__(
        self,
        observer: _Observer,
        recorder: Recorder,
        events: Events,
        backwards: Backwards,
        switches: Switches,
        stepping: Steps,
        training_modes: TrainingModes,
        compiled: CompiledCalls,
        by_hand: ByHand,
    ) -> None:
        self._observer, self._recorder, self._events = observer, recorder, events
        self._backwards, self._switches, self._stepping = backwards, switches, stepping
        self._training_modes, self._compiled, self._by_hand = training_modes, compiled, by_hand
        self._patches = TorchPatches()
        self._hooks: list[Any] = []
        self._differentiating = False  # are calls that differentiate told, where no interceptor is?
        by_hand.found = self._watch_differentiating

    def install(self) -> None:
        """Put them in."""
        self._patches.wrap(torch.optim.Optimizer, "__init__", self._optimizer_init)
        self._patches.wrap(torch.nn.Module, "load_state_dict", self._load_state_dict)
        self._patches.wrap(torch, "compile", self._compile)
        self._patches.wrap(torch.nn.Module, "compile", self._compile)
        self._patches.wrap(torch.autograd.graph.saved_tensors_hooks, "__enter__", self._saved_hooks)
        if not private.has_compiled():
            self._patches.wrap(torch, "from_numpy", self._from_numpy)
        self._switches.install(self._patches)
        self._events.install(self._patches)
        self._training_modes.install(self._patches)
        self._hooks = [
            register_optimizer_step_pre_hook(self._stepping.before),
            register_optimizer_step_post_hook(self._stepping.after),
            torch_module.register_module_parameter_registration_hook(self._parameter_registered),
            torch_module.register_module_module_registration_hook(self._module_registered),
        ]

    def remove(self) -> None:
        """Take them out."""
        self._compiled.over = True
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._patches.restore()

    def _optimizer_init(self, original: Any) -> Any:
        @door
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            asked: emptiness.Asked | None = None
            try:
                asked = emptiness.asked_of(args[0] if args else kwargs.get("params"))
            except Exception as error:
                self._observer.stepped_aside(error)
            try:
                original(optimizer, *args, **kwargs)
            except ValueError as error:
                try:
                    if asked is not None and emptiness.says(error) and not traced():
                        with alone():
                            self._observer.given_nothing(type(optimizer).__name__, asked, sys._getframe(1))
                except Exception as ours:
                    self._observer.stepped_aside(ours)
                raise
            try:
                if not traced():
                    with alone():
                        self._stepping.made(optimizer, locate(sys._getframe(1)))
            except Exception as error:
                self._observer.stepped_aside(error)

        return __init__

    def _load_state_dict(self, original: Any) -> Any:
        @door
        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            try:
                if not traced():
                    with alone():
                        self._loaded(module, args, kwargs, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return load_state_dict

    def _loaded(self, module: torch.nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._observer.aside:
            return
        for parameter in modules.parameters(module):
            self._recorder.param(parameter).loaded = True
        if not self._observer.recording():
            state = args[0] if args else kwargs.get("state_dict")
            self._events.loaded(module, state, locate(frame))

    def _from_numpy(self, original: Any) -> Any:
        """No function mode is told of it: without this, data is first seen where it is used."""

        @door
        def from_numpy(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            try:
                if self._observer.recording():
                    with alone():  # a look into it is not the user's
                        self._recorder.node(result, locate(sys._getframe(1)))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return from_numpy

    def _saved_hooks(self, original: Any) -> Any:
        """Checkpointing and its like: a graph that runs the user's code when it is walked."""

        @door
        def __enter__(block: Any) -> Any:
            self._backwards.hooked = True
            return original(block)

        return __enter__

    def _compile(self, original: Any) -> Any:
        ref = weakref.ref(self)  # torch keeps lists of its functions: ours must not keep us alive

        @door
        def compile(*args: Any, **kwargs: Any) -> Any:
            hooks = ref()
            if hooks is not None:
                try:
                    hooks._compiles(sys._getframe(1))
                except Exception as error:
                    hooks._observer.stepped_aside(error)
            return original(*args, **kwargs)

        return compile

    def _compiles(self, frame: FrameType) -> None:
        if self._observer.compiles(frame):
            private.leave_untraced(os.path.dirname(doors.__file__), read_as.__code__)
            self._patches.undo(torch, "from_numpy")  # the compiler knows functions in C by what they are
            if not self._compiled.install(self._patches):
                self._observer.lose_sight()
            self._watch_differentiating()

    def _watch_differentiating(self) -> None:
        """In compiled code, and where updates are made by hand, nobody else tells of them."""
        if not self._differentiating:
            self._differentiating = True
            self._patches.wrap(torch.Tensor, "backward", self._plain_backward)
            self._patches.wrap(torch.autograd, "grad", self._plain_grad)

    def _plain_grad(self, original: Any) -> Any:
        @door
        def grad(*args: Any, **kwargs: Any) -> Any:
            call = plain_call
            try:
                call = trampoline(sys._getframe(1))
                self._update_by_hand()
            except Exception as error:
                self._observer.stepped_aside(error)
            return call(original, args, kwargs)

        return grad

    def _update_by_hand(self) -> None:
        """The gradients of the last backward have been used: has somebody made an update of them?"""
        if self._by_hand and not self._compiled.inside() and not self._observer.aside and not traced():
            with alone():
                made = self._by_hand.before_backward()
            if made:
                self._observer.stepped()

    def _plain_backward(self, original: Any) -> Any:
        """Compiled code is left alone; what ``backward`` reaches is asked of autograd all the same."""

        @door
        def backward(*args: Any, **kwargs: Any) -> Any:
            told = None
            try:
                self._update_by_hand()
                if self._compiled.inside() and self._observer.recording():
                    with alone():
                        told = self._backwards.begins("backward", args, kwargs, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                try:
                    if told is not None and not traced():
                        with alone():
                            self._backwards.failed(told, error)
                except Exception as ours:
                    self._observer.stepped_aside(ours)
                raise
            try:
                if told is not None and not traced():
                    with alone():
                        self._backwards.ends(told, "backward", args, result, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return backward

    # -- modules and parameters --------------------------------------------------------------------

    @unread
    @door
    def _parameter_registered(self, module: Any, name: str, parameter: Any) -> None:
        try:
            if is_a(parameter, torch.Tensor) and not self._observer.aside and not traced():
                with alone():
                    self._register(module, name, parameter, sys._getframe(2))
        except Exception as error:
            self._observer.stepped_aside(error)

    def _register(self, module: Any, name: str, parameter: Any, frame: FrameType) -> None:
        param = self._recorder.param(parameter, stack(frame))
        old = own(module).get("_parameters", {}).get(name)
        if old is not None and old is not parameter:
            param.replaced_at, param.replaced_when = locate(frame), clock()

    @unread
    @door
    def _module_registered(self, module: Any, name: str, child: Any) -> None:
        try:
            self._stepping.reducers.met(module)
            old = own(module).get("_modules", {}).get(name)
            if old is not None and old is not child and modules.is_module(child) and not traced():
                with alone():
                    self._replaced(child, sys._getframe(2))
        except Exception as error:
            self._observer.stepped_aside(error)

    def _replaced(self, child: torch.nn.Module, frame: FrameType) -> None:
        where = locate(frame)
        for parameter in modules.parameters(child):
            param = self._recorder.param(parameter, stack(frame))
            param.replaced_at, param.replaced_when = where, clock()
