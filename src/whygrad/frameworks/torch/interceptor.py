"""The interceptor: sees every torch call of one thread as the user wrote it, and lets it through."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode

from whygrad.doors import door
from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.frames import plain_call, trampoline
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.ports import Safety
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.torch.differentiating import Backwards
from whygrad.frameworks.torch.grad_mode import Switches
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.replaced_functions import asked_for
from whygrad.frameworks.torch.stepping import Steps
from whygrad.frameworks.torch.tracing import alone, traced
from whygrad.frameworks.torch.vocabulary import MOODY

_LEAVING = frozenset(("item", "__float__", "__int__", "__index__", "tolist", "numpy", "__array__"))
_ENTERING = frozenset(("tensor", "as_tensor", "asarray", "new_tensor"))
_SILENT = frozenset(
    (
        "__bool__",
        "__format__",
        "__repr__",
        "__len__",
        "__contains__",
        "__hash__",
        "size",
        "dim",
        "_set_grad_enabled",
    )
)
_CLEARING = frozenset(("zero_", "_foreach_zero_"))
_HOOKING = frozenset(("register_hook", "register_post_accumulate_grad_hook"))
_DIFFERENTIATING = {  # by where they were written: a program may have put its own in their place
    ("torch._tensor", "Tensor.backward"): "backward",
    ("torch.autograd", "backward"): "backward",
    ("torch.autograd", "grad"): "autograd.grad",
}


class _Observer(Safety, Protocol):
    def requires_grad(self, tensor: torch.Tensor, flag: bool, frame: FrameType) -> None: ...

    def operation_failed(
        self, name: str, args: Any, kwargs: Any, frame: FrameType, error: BaseException
    ) -> None: ...

    def transformed(self, frame: FrameType) -> None: ...
    def pause(self) -> None: ...


class Mode(TorchFunctionMode):
    """One per thread. Entered and left by the observer; never when somebody else's mode lies on top."""

    def __init__(
        self,
        observer: _Observer,
        attention: Attention,
        recorder: Recorder,
        backwards: Backwards,
        switches: Switches,
        stepping: Steps,
    ) -> None:
        super().__init__()
        self._observer, self._attention, self._recorder = observer, attention, recorder
        self._backwards, self._switches, self._stepping = backwards, switches, stepping
        self.on = True

    @door
    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        frame, observer = sys._getframe(1), self._observer
        kwargs = kwargs if kwargs is not None else {}
        call, kind, name, told = plain_call, None, "", None
        try:
            call, func = trampoline(frame), asked_for(func, frame)
            if self.on and not self._stepping.inside():
                if traced():
                    self._recorder.unseen_use((*args, *kwargs.values()), frame)
                    observer.transformed(frame)
                else:
                    kind, name = _meaning(func)
                if kind is _Kind.backward:
                    with alone():
                        told = self._backwards.begins(name, args, kwargs, frame)
        except Exception as error:
            kind = None
            observer.stepped_aside(error)
        try:
            result = call(func, args, kwargs)
        except BaseException as error:
            try:
                if kind is not None and not traced():
                    with alone():
                        if told is not None:
                            self._backwards.failed(told, error)
                        else:
                            observer.operation_failed(name, args, kwargs, frame, error)
            except Exception as ours:
                observer.stepped_aside(ours)
            raise
        if kind is not None and kind is not _Kind.silent:
            try:
                if not traced():
                    with alone():
                        if told is not None:
                            self._backwards.ends(told, name, args, result, frame)
                        else:
                            kind(self, name, args, kwargs, result, frame)
            except Exception as error:
                observer.stepped_aside(error)
        return result

    # -- what a call means -------------------------------------------------------------------------

    def _operation(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        values = (*args, *kwargs.values()) if kwargs else args
        gate = self._switches.gate()
        if name in _HOOKING:
            self._backwards.hooked = True
            return
        if name in _CLEARING and frame.f_code.co_name == "zero_grad":
            self._backwards.cleared_by(variables_of(frame)["self"])
            return
        self._recorder.operation(name, values, result, frame, gate)
        if name in MOODY:
            self._recorder.in_mode(kwargs, result)
        if self._attention.tired(self._recorder.operations):
            self._observer.pause()

    def _leaving(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        gate = self._switches.gate()
        self._recorder.left(name, args[0], result, frame, gate)

    def _entering(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        self._recorder.entered(name, args or tuple(kwargs.values()), result, frame)

    def _property(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        if name == "data" and is_a(result, torch.Tensor):
            self._recorder.operation("data", args, result, frame, None)
        elif name == "grad" and is_a(result, torch.Tensor):
            self._recorder.gradient(args[0], result, frame)
        elif is_a(result, torch.Tensor) and name not in ("grad", "_grad", "_base"):
            self._operation(name, args, kwargs, result, frame)

    def _assignment(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        tensor, value = args[0], args[1] if len(args) > 1 else None
        if name == "requires_grad":
            self._observer.requires_grad(tensor, bool(value), frame)
        elif name in ("grad", "_grad"):
            self._backwards.grad_assigned(tensor, value, frame)
        elif name == "data":
            self._recorder.operation("copy_", (tensor, value), None, frame, None)

    def _asks(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        flag = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
        self._observer.requires_grad(args[0], bool(flag), frame)


class _Kind:
    """How a torch function is to be understood; the handlers are methods of ``Mode``."""

    silent: Any = object()
    backward: Any = object()
    operation = Mode._operation
    leaving = Mode._leaving
    entering = Mode._entering
    property = Mode._property
    assignment = Mode._assignment
    asks = Mode._asks


_meanings: dict[Any, tuple[Any, str]] = {}


def _meaning(func: Any) -> tuple[Any, str]:
    known = _meanings.get(func)
    if known is None:
        known = _meanings[func] = _classify(func)
    return known


def _classify(func: Any) -> tuple[Any, str]:
    name = getattr(func, "__name__", "") or type(func).__name__
    written = getattr(func, "__module__", None), getattr(func, "__qualname__", "")
    if written in _DIFFERENTIATING:
        return _Kind.backward, _DIFFERENTIATING[written]
    if name in ("__get__", "__set__") and hasattr(func, "__self__"):
        owner = func.__self__.__name__
        return (_Kind.property if name == "__get__" else _Kind.assignment), owner
    if name in _SILENT or name.startswith("_record_function"):
        return _Kind.silent, name
    if name in _LEAVING:
        return _Kind.leaving, name
    if name in _ENTERING:
        return _Kind.entering, name
    if name == "requires_grad_":
        return _Kind.asks, name
    return _Kind.operation, name
