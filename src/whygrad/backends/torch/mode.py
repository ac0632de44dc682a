"""The interceptor: sees every torch call of one thread as the user wrote it, and lets it through."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from whygrad.backends.recording.frames import trampoline
from whygrad.backends.recording.scopes import variables_of

if TYPE_CHECKING:
    from whygrad.backends.torch.watch import Watch

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
_MOST_OPERATIONS = 200_000  # without a single step: enough of a rollout
_CLEARING = frozenset(("zero_", "_foreach_zero_"))
_HOOKING = frozenset(("register_hook", "register_post_accumulate_grad_hook"))
_GRAD_MODE_FILES = ("grad_mode.py", "_contextlib.py", "overrides.py")


class Mode(TorchFunctionMode):
    """One per thread. Entered and left by ``Watch``; never when somebody else's mode lies on top."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch
        self._recorder = watch.recorder
        self.on = True

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        frame = sys._getframe(1)
        kwargs = kwargs if kwargs is not None else {}
        call = trampoline(frame)
        if not self.on or self._watch.stepping.inside():
            return call(func, args, kwargs)
        kind, name = _meaning(func)
        if kind is _Kind.backward:
            return self._watch.backwards.differentiate(func, name, args, kwargs, frame, call)
        try:
            result = call(func, args, kwargs)
        except BaseException as error:
            self._watch.safely(self._watch.operation_failed, name, args, kwargs, frame, error)
            raise
        if kind is not _Kind.silent:
            self._watch.safely(kind, self, name, args, kwargs, result, frame)
        return result

    # -- what a call means -------------------------------------------------------------------------

    def _operation(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        values = (*args, *kwargs.values()) if kwargs else args
        gate = self._watch.switches.gate()
        if name in _HOOKING:
            self._watch.backwards.hooked = True
            return
        if name in _CLEARING and frame.f_code.co_name == "zero_grad":
            self._watch.backwards.cleared_by(variables_of(frame)["self"])
            return
        self._recorder.operation(name, values, result, frame, gate)
        if self._recorder.operations > _MOST_OPERATIONS:
            self._watch.pause()

    def _leaving(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        gate = self._watch.switches.gate()
        self._recorder.left(name, args[0], result, frame, gate)

    def _entering(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        self._recorder.entered(name, args or tuple(kwargs.values()), result, frame)

    def _property(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        if name == "data" and isinstance(result, torch.Tensor):
            self._recorder.operation("data", args, result, frame, None)
        elif name == "grad" and isinstance(result, torch.Tensor):
            self._recorder.gradient(args[0], result, frame)
        elif isinstance(result, torch.Tensor) and name not in ("grad", "_grad", "_base"):
            self._operation(name, args, kwargs, result, frame)

    def _assignment(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        tensor, value = args[0], args[1] if len(args) > 1 else None
        if name == "requires_grad":
            self._watch.requires_grad(tensor, bool(value), frame)
        elif name == "grad":
            self._watch.backwards.grad_assigned(tensor, value, frame)
        elif name == "data":
            self._recorder.operation("copy_", (tensor, value), None, frame, None)

    def _asks(self, name: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        flag = args[1] if len(args) > 1 else kwargs.get("requires_grad", True)
        self._watch.requires_grad(args[0], bool(flag), frame)


class _Kind:
    """How a torch function is to be understood; the handlers are methods of ``Mode``."""

    silent: Any = None
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
    if func in (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad):
        return _Kind.backward, "autograd.grad" if func is torch.autograd.grad else "backward"
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
