"""``torch.compile``: its code is left alone. What goes in and what has changed when it returns is looked at.

The compiler reads every Python function that it meets. In the place of ours it reads the original, or nothing
where there was none (hooks); what runs without being read is passed over. While compiled code runs, the
interceptor is out of the way: the compiler would read that, too.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any, Protocol

import torch

from whygrad.doors import Function, door, nothing, read_as
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.shared.ports import Safety
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.torch import private
from whygrad.frameworks.torch.ports import Summarizer
from whygrad.frameworks.torch.tracing import alone, traced

_MOST = 16  # parameters of an optimizer that say whether it has stepped

Before = list[tuple[OptimizerRecord, int, list[tuple[Any, int]]]]


class _Thread(threading.local):
    depth: int = 0
    before: Before | None = None


class _Observer(Safety, Protocol):
    @property
    def summaries(self) -> Summarizer | None: ...

    def withdraw(self) -> None: ...
    def come_back(self) -> None: ...


class _Stepping(Protocol):
    def made_in_compiled(self, optimizer: Any, frame: FrameType) -> None: ...


class TorchPatches(Patches):
    """Replaced functions that the compiler takes for the originals."""

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Methods are forwarded: how the compiler presents a function, it loses their object."""
        if not isinstance(owner, type):
            super().wrap(owner, name, lambda original: _presented(make(original), original))
        elif (owner, name) in _READ:
            super().wrap(owner, name, lambda o: read_as(o, make(o), torch.compiler.is_dynamo_compiling))
        else:
            super().wrap(owner, name, make)


_READ = {  # methods that the compiler reads; it knows the others by their class or leaves them alone
    (torch.nn.Module, "train"),
    (torch.nn.Module, "zero_grad"),
    (torch.nn.Module, "load_state_dict"),
    (torch.optim.Optimizer, "__init__"),
}


def _presented(replacement: Any, original: Any) -> Any:
    if isinstance(original, FunctionType):
        private.present(replacement, original)
    return replacement


def unread(hook: Function) -> Function:
    """Marks a hook of torch that is not there for compiled code."""
    private.present(hook, nothing)
    return hook


class CompiledCalls:
    """Calls of compiled functions, as far as they can be seen from outside."""

    def __init__(self, observer: _Observer, optimizers: Optimizers, stepping: _Stepping) -> None:
        self._observer, self._optimizers, self._stepping = observer, optimizers, stepping
        self._thread = _Thread()
        self.over = False

    def install(self, patches: Patches) -> bool:
        """From now on; false if this version of torch does not tell of calls."""
        context = private.compiled_context()
        if context is not None:
            patches.wrap(context, "__init__", self._context)
        return context is not None

    def inside(self) -> bool:
        """Is this thread in compiled code?"""
        return self._thread.depth > 0

    def _context(self, original: Any) -> Any:
        ref = weakref.ref(self)  # torch keeps compiled functions: ours must not keep us alive

        @door
        def entered() -> Callable[[], None]:
            calls = ref()
            if calls is None or calls.over:
                return nothing
            try:
                calls._begins(sys._getframe(1))
            except Exception as error:
                calls._observer.stepped_aside(error)
            return calls._ended

        @door
        def __init__(context: Any, *args: Any, **kwargs: Any) -> None:
            original(context, *args, **kwargs)
            calls = ref()
            if calls is not None:
                try:
                    private.tell(context, entered)
                except Exception as error:
                    calls._observer.stepped_aside(error)

        return __init__

    def _begins(self, frame: FrameType) -> None:
        """A compiled function is called."""
        here = self._thread
        here.depth += 1
        if here.depth == 1:
            self._observer.withdraw()
            here.before = None if self._observer.aside or traced() else self._now(frame)

    @door
    def _ended(self) -> None:
        try:
            self._ends(sys._getframe(1))
        except Exception as error:
            self._observer.stepped_aside(error)

    def _ends(self, frame: FrameType) -> None:
        """It has returned, or raised."""
        here = self._thread
        here.depth -= 1
        if here.depth:
            return
        before, here.before = here.before, None
        self._observer.come_back()
        if before and not self._observer.aside and not traced():
            with alone():
                self._changed(before, frame)

    def _now(self, frame: FrameType) -> Before:
        """How often the parameters of each optimizer have been written to."""
        with alone():
            records = [r for r in self._optimizers.all() if _may_step(r)]
            if self._observer.summaries is not None:
                for record in records:
                    self._observer.summaries.before(record.ref(), frame)
            return [(r, r.steps, _versions(r)) for r in records]

    def _changed(self, before: Before, frame: FrameType) -> None:
        """A step in compiled code tells nobody; its parameters have changed, though."""
        explained = {id(t) for record, steps, held in before if record.steps != steps for t, _ in held}
        for record, steps, held in before:
            optimizer = record.ref()
            written = {id(t) for t, version in held if private.version(t) != version} - explained
            if optimizer is not None and record.steps == steps and written:
                self._stepping.made_in_compiled(optimizer, frame)
                explained |= written


def _may_step(record: OptimizerRecord) -> bool:
    return not record.by_hand and record.ref() is not None


def _versions(record: OptimizerRecord) -> list[tuple[Any, int]]:
    held = list(record.held.values())
    some = held[:: -(-len(held) // _MOST)] if held else ()
    return [(t, private.version(t)) for p in some if (t := p.ref()) is not None]
