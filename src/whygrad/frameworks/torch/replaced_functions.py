"""Which function of torch was called, where a program has put one of its own in its place.

Torch hands an interceptor what is found under the public name: ``torch.nn.functional.mse_loss``,
``torch.Tensor.sum``. If a program has replaced that, and its replacement has called the original, to call
what was handed over would apply the replacement a second time.
"""

from __future__ import annotations

import gc
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

import torch
from torch.overrides import handle_torch_function

from whygrad.frameworks.torch import private

_NATIVE = frozenset((BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType))
_PYTHON: CodeType = getattr(handle_torch_function, "__code__")  # noqa: B009 (typed as a callable only)
_TENSOR = vars(private.TENSOR)  # the methods in C, which nobody can replace
_functions: dict[CodeType, list[FunctionType]] = {}


def _public() -> dict[CodeType, list[FunctionType]]:
    """What stands under public names now, as torch is imported: gc tells of no object that is frozen."""
    found: dict[CodeType, list[FunctionType]] = {}
    for place in (torch.Tensor, torch, torch.functional, torch.nn.functional):
        for value in vars(place).values():
            if type(value) is FunctionType:
                found.setdefault(value.__code__, []).append(value)
    return found


_AT_FIRST = _public()


def asked_for(func: Any, frame: FrameType) -> Any:
    """What torch was about to run when it called the interceptor from ``frame`` with ``func``."""
    kind = type(func)
    if kind in _NATIVE:
        return func
    if kind is MethodWrapperType and type(func.__self__) is GetSetDescriptorType:
        return func
    if frame.f_code is not _PYTHON or frame.f_back is None:
        return _method_in_c(func, kind)
    asking = frame.f_back
    if kind is FunctionType and func.__code__ is asking.f_code:
        return func
    return _function_in_python(func, kind, asking)


def _method_in_c(func: Any, kind: type) -> Any:
    """Torch looks its own methods up in ``torch.Tensor``, by name, even to run an operator."""
    held = func.__self__ if kind is MethodWrapperType else func
    if _is_torch_s(kind):
        return func
    for name, value in list(vars(torch.Tensor).items()):
        if value is held and name in _TENSOR:
            original = _TENSOR[name]
            return getattr(original, func.__name__, func) if kind is MethodWrapperType else original
    return func


def _function_in_python(func: Any, kind: type, asking: FrameType) -> Any:
    """Torch looks the running function up in its module, by name."""
    if _is_torch_s(kind) or (kind is FunctionType and _stands_for(func.__code__, asking.f_code)):
        return func
    if kind is MethodWrapperType and getattr(func.__self__, "fget", None) in _with_code(asking.f_code):
        return func
    while asking.f_code.co_name.endswith("_torch_function") and asking.f_back is not None:
        asking = asking.f_back  # made to ask, and nothing else
    return next((f for f in _with_code(asking.f_code) if _is_running(f, asking)), func)


def _is_torch_s(kind: type) -> bool:
    """An operator object of torch itself: those have no public name that could be replaced."""
    return kind.__module__.partition(".")[0] == "torch"


def _stands_for(public: CodeType, running: CodeType) -> bool:
    """Some functions choose between others, which then ask in their name."""
    chooses = public.co_qualname.startswith("boolean_dispatch.")
    return chooses or (running.co_name == "_" + public.co_name and running.co_filename == public.co_filename)


def _with_code(code: CodeType) -> list[FunctionType]:
    """The functions with this code, wherever they are kept by now. Searched for once."""
    found = _functions.get(code)
    if found is None:
        holders = [*_AT_FIRST.get(code, ()), *gc.get_referrers(code)]
        found = _functions[code] = [f for f in holders if type(f) is FunctionType and f.__code__ is code]
    return found


def _is_running(function: FunctionType, frame: FrameType) -> bool:
    """The same code may belong to several closures."""
    if function.__globals__ is not frame.f_globals:
        return False
    if not function.__closure__:
        return True
    held = frame.f_locals
    cells = zip(function.__code__.co_freevars, function.__closure__, strict=True)
    return all(cell.cell_contents is held.get(name) for name, cell in cells)
