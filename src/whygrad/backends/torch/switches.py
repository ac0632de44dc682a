"""Where gradients are turned off: ``no_grad``, ``set_grad_enabled``, ``inference_mode``."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from whygrad.backends.recording.frames import FRAMEWORK, Where, kind_of, locate
from whygrad.backends.recording.nodes import Gate
from whygrad.backends.recording.patches import Patches
from whygrad.backends.recording.scopes import variables_of

_GRAD_MODE_FILES = ("grad_mode.py", "_contextlib.py", "overrides.py")


class _Thread(threading.local):
    gate: Gate | None = None  # where the user turned gradients off
    outer: Gate | None = None


class Switches:
    """Knows, in every thread, which line of the user turned gradients off."""

    def __init__(self, recording: Callable[[], bool]) -> None:
        self._recording = recording
        self._thread = _Thread()

    def install(self, patches: Patches) -> None:
        """Watch the three ways to turn gradients off and on."""
        patches.wrap(torch.set_grad_enabled, "__init__", self._grad_mode)
        patches.wrap(torch.inference_mode, "__enter__", self._inference_enter)
        patches.wrap(torch.inference_mode, "__exit__", self._inference_exit)

    def _grad_mode(self, original: Any) -> Any:
        """``no_grad``, ``enable_grad`` and ``set_grad_enabled`` all come through here."""

        def __init__(block: Any, mode: bool) -> None:
            caller = sys._getframe(1)
            if self._recording() or kind_of(caller.f_code) != FRAMEWORK:  # blocks matter only to recording
                self._switched(mode, caller)
            original(block, mode)

        return __init__

    def _switched(self, on: bool, frame: FrameType) -> None:
        thread = self._thread
        inside = frame.f_code.co_name
        if on:
            thread.outer, thread.gate = thread.gate, None
        elif inside == "__exit__":
            thread.gate = thread.outer  # the end of an enable_grad block
        elif (thread.gate is None or torch.is_grad_enabled()) and (
            inside != "__enter__" or self._recording()
        ):
            thread.gate = gate_at(frame)  # gradients were on: a gate from before is a stale one

    def _inference_enter(self, original: Any) -> Any:
        def __enter__(block: Any) -> Any:
            if getattr(block, "mode", True) and self._thread.gate is None and self._recording():
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


def gate_at(frame: FrameType, kind: str = "") -> Gate | None:
    """The place where the user's own code turns gradients off; nothing if the framework did it itself."""
    caller: FrameType | None = frame
    decorated = None
    while caller is not None and kind_of(caller.f_code) == FRAMEWORK:
        if not caller.f_code.co_filename.endswith(_GRAD_MODE_FILES):
            return None
        if caller.f_code.co_name == "__enter__":
            kind = kind or type(variables_of(caller).get("self")).__name__
        if caller.f_code.co_name == "decorate_context":
            decorated = variables_of(caller).get("func")
        caller = caller.f_back
    kind = kind or "set_grad_enabled"
    code = getattr(decorated, "__code__", None)
    if code is not None:
        if kind_of(code) == FRAMEWORK:
            return None
        return Gate("@torch." + kind + "()", Where(code, code.co_firstlineno))
    where = locate(caller)
    return (
        Gate("torch." + kind + ("(False)" if kind == "set_grad_enabled" else "()"), where) if where else None
    )
