"""Where gradients are turned off: ``no_grad``, ``set_grad_enabled``, ``inference_mode``."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Protocol

import torch

from whygrad.doors import door
from whygrad.frameworks.shared.frames import FRAMEWORK, INVISIBLE, Where, kind_of, locate
from whygrad.frameworks.shared.nodes import Gate
from whygrad.frameworks.shared.objects import class_name, code_of
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.shared.ports import Recording, Safety
from whygrad.frameworks.shared.scopes import variables_of

_CHECKPOINT = ("torch/utils/checkpoint.py", "torch\\utils\\checkpoint.py")
_GRAD_MODE_FILES = ("grad_mode.py", "_contextlib.py", "overrides.py")


class _Thread(threading.local):
    gate: Gate | None = None  # where the user turned gradients off
    outer: Gate | None = None


class _Observer(Safety, Recording, Protocol):
    active: bool  # may any thread be recorded now?


class Switches:
    """Knows, in every thread, which line of the user turned gradients off."""

    __slots__ = ("_observer", "_thread", "alert", "quiet")  # read at every switch

    def __init__(self, observer: _Observer) -> None:
        self._observer, self._thread = observer, _Thread()
        self.alert = True  # look at every caller: there is recording, or gradients are off
        self.quiet = False  # now torch turns gradients off by itself: no need to look at who asks

    def install(self, patches: Patches) -> None:
        """Watch the three ways to turn gradients off and on."""
        patches.wrap(torch.set_grad_enabled, "__init__", self._grad_mode)
        patches.wrap(torch.no_grad, "__enter__", self._no_grad)
        patches.wrap(torch.inference_mode, "__enter__", self._inference_enter)
        patches.wrap(torch.inference_mode, "__exit__", self._inference_exit)

    def _grad_mode(self, original: Any) -> Any:
        """``no_grad``, ``enable_grad`` and ``set_grad_enabled`` all come through here.

        Blocks matter only to recording, and are what most calls are. A look at the caller costs more than all
        the rest, so it is not taken where the answer is known.
        """

        @door
        def __init__(block: Any, mode: bool) -> None:
            if self.alert or not (mode or self.quiet):
                try:
                    self._asked(mode, sys._getframe(1))
                except Exception as error:
                    self._observer.stepped_aside(error)
            original(block, mode)

        return __init__

    def _asked(self, mode: bool, caller: FrameType) -> None:
        if self._observer.recording() or kind_of(caller.f_code) != FRAMEWORK:
            self._switched(mode, caller)
        elif torch.is_grad_enabled():
            self._thread.gate = None  # of a block that is over
        self.alert = self._observer.active or (self._thread.gate is not None and not self._observer.aside)

    def _no_grad(self, original: Any) -> Any:
        @door
        def __enter__(block: Any) -> None:
            self.quiet = True
            try:
                original(block)
            finally:
                self.quiet = False

        return __enter__

    def _switched(self, on: bool, frame: FrameType) -> None:
        thread = self._thread
        inside = frame.f_code.co_name
        if on:
            if inside != "__exit__":  # an enable_grad block begins, in a region without gradients or not
                thread.outer = thread.gate
            thread.gate = None
        elif inside == "__exit__":  # of an enable_grad block, or of a no_grad block where gradients were off
            thread.gate = thread.gate or thread.outer
        elif (thread.gate is None or torch.is_grad_enabled()) and (
            inside != "__enter__" or self._observer.recording()
        ):
            thread.gate = gate_at(frame)  # gradients were on: a gate from before is a stale one

    def _inference_enter(self, original: Any) -> Any:
        @door
        def __enter__(block: Any) -> Any:
            try:
                stale = self._thread.gate is None or torch.is_grad_enabled()
                if getattr(block, "mode", True) and stale and self._observer.recording():
                    self._thread.gate = gate_at(sys._getframe(1), "inference_mode")
            except Exception as error:
                self._observer.stepped_aside(error)
            return original(block)

        return __enter__

    def _inference_exit(self, original: Any) -> Any:
        @door
        def __exit__(block: Any, *error: Any) -> Any:
            result = original(block, *error)
            try:
                if torch.is_grad_enabled():
                    self._thread.gate = None
            except Exception as ours:
                self._observer.stepped_aside(ours)
            return result

        return __exit__

    def gate(self) -> Gate | None:
        """Where the user turned gradients off, if they are off now."""
        return self._thread.gate if not torch.is_grad_enabled() else None


def gate_at(frame: FrameType, kind: str = "") -> Gate | None:
    """The place where the user's own code turns gradients off; nothing if the framework did it itself."""
    caller: FrameType | None = frame
    decorated = None
    while caller is not None and (whose := kind_of(caller.f_code)) in (FRAMEWORK, INVISIBLE):
        if whose == INVISIBLE:
            caller = caller.f_back
            continue
        if caller.f_code.co_filename.endswith(_CHECKPOINT):
            where = locate(caller)
            return Gate("checkpoint(use_reentrant=True)", where) if where else None
        if not caller.f_code.co_filename.endswith(_GRAD_MODE_FILES):
            return None
        if caller.f_code.co_name == "__enter__":
            kind = kind or class_name(variables_of(caller).get("self"))
        if caller.f_code.co_name == "decorate_context":
            decorated = variables_of(caller).get("func")
            break  # whoever calls it (a module's own machinery, for a ``forward``) did not ask for this
        caller = caller.f_back
    kind = kind or "set_grad_enabled"
    code = code_of(decorated)
    if code is not None:
        if kind_of(code) == FRAMEWORK:
            return None
        return Gate("@torch." + kind + "()", Where(code, code.co_firstlineno))
    where = locate(caller)
    return (
        Gate("torch." + kind + ("(False)" if kind == "set_grad_enabled" else "()"), where) if where else None
    )
