"""Watches a running script: attaches to torch, opens and closes windows of recording."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import torch

from whygrad.frameworks.shared.flags import Flags
from whygrad.frameworks.shared.frames import Where, locate, stack
from whygrad.frameworks.shared.nodes import Node, Param, clock
from whygrad.frameworks.shared.observer import BaseObserver
from whygrad.frameworks.shared.records import EmptyRecord, Records
from whygrad.frameworks.shared.scopes import variables
from whygrad.frameworks.shared.standing import Standing
from whygrad.frameworks.torch import emptiness, private
from whygrad.frameworks.torch.by_hand import ByHand
from whygrad.frameworks.torch.compiled import CompiledCalls
from whygrad.frameworks.torch.differentiating import Backwards
from whygrad.frameworks.torch.events import Events
from whygrad.frameworks.torch.grad_mode import Switches
from whygrad.frameworks.torch.hooks import Hooks
from whygrad.frameworks.torch.interceptor import Mode
from whygrad.frameworks.torch.names import Names
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.stepping import Steps
from whygrad.frameworks.torch.summaries import Summaries
from whygrad.frameworks.torch.tracing import traced
from whygrad.frameworks.torch.training_modes import TrainingModes
from whygrad.frameworks.torch.weights import fingerprint, row
from whygrad.summaries.watching import Watching


class _Thread(threading.local):
    mode: Mode | None = None
    resting: Mode | None = None  # taken out for the time of an optimizer's own arithmetic
    withdrawn: tuple[Mode, list[Any]] | None = None  # while compiled code runs; and what was above it


class Observer(BaseObserver):
    """Everything that happens between attach and detach."""

    may_go_on = True

    def __init__(
        self, namespace: Callable[[], Mapping[str, Any]], on_step: Callable[[], None] | None = None
    ) -> None:
        super().__init__(namespace, on_step)
        self.recorder = Recorder()
        self.events = self.recorder.events = Events(self, self.recorder, self.optimizers)
        self.backwards = self.events.gradients = Backwards(
            self, self.recorder, self.events, self.optimizers, self.attention
        )
        self.switches = Switches(self)
        self.flags = Flags(row)
        self.standing = Standing(self.optimizers, fingerprint, self.stepped_aside)
        self.stepping = Steps(
            self,
            self.optimizers,
            self.attention,
            self.switches,
            self.recorder,
            self.events,
            self.backwards,
            self.standing,
        )
        self.by_hand = self.events.by_hand = ByHand(
            self, self.recorder, self.optimizers, self.attention, self.stepping, self.backwards
        )
        self.compiled = CompiledCalls(self, self.optimizers, self.stepping)
        self.summaries: Summaries | None = None  # if somebody wants them
        self.training_modes = TrainingModes(self, self.recorder)
        self.empty: list[EmptyRecord] = []  # optimizers that could not be made
        self.unseen: dict[str, Where | None] = {}  # what could not be observed, and where
        self.given_out: Where | None = None  # where ``torch.func.grad`` was first at work
        self._thread = _Thread()
        self._modes: deque[Mode] = deque(maxlen=256)
        self._hooks = Hooks(
            self,
            self.recorder,
            self.events,
            self.backwards,
            self.switches,
            self.stepping,
            self.training_modes,
            self.compiled,
            self.by_hand,
        )
        self.active: bool = True  # may any thread be recorded now?
        self._blind = False  # compiled code cannot be told from other code

    # -- attach and detach -------------------------------------------------------------------------

    def start(self) -> None:
        """Put the hooks in and begin to record in this thread and in every new one."""
        self._hooks.install()
        self.see_threads()
        self._enter()

    def stop(self) -> None:
        """Take everything out again."""
        self._activate(False)
        self.standing.stop()
        if self.summaries is not None:
            self.summaries.remove()
        self._hooks.remove()
        self.forget_threads()
        self._leave()

    def summarize(self, watching: Watching | None) -> None:
        """Summarize updates from now on, or no longer."""
        if self.summaries is not None:
            self.summaries.remove()
            self.summaries = None
        if watching is not None:
            self.summaries = Summaries(self, self.optimizers, self.stepping, watching)
            self.summaries.install()

    @property
    def half_blind(self) -> bool:
        """Compiled code is not recorded."""
        return bool(self.aside or self.unseen)

    def fall_silent(self) -> None:
        """Record nothing from now on, in any thread."""
        self.active = self.switches.alert = False
        self._thread.resting = None
        for mode in list(self._modes):  # of all threads
            mode.on = False
        for record in list(self.optimizers.by_address.values()):
            record.lr_always_zero = False  # steps are counted on, but nobody sees whether it grows
            record.still = {}

    def see_next_step(self) -> None:
        """No step is only counted."""
        for record in self.optimizers.all():
            record.quiet_until = 0

    def step_seen(self) -> None:
        """Each step says itself how many of the next ones are only counted."""

    def leave_fork(self) -> None:
        """In a forked child: no mode and no summaries."""
        self._activate(False)
        if self.summaries is not None:
            self.summaries.remove()
        self._leave()

    def forget_past(self) -> None:
        """In a forked child that is watched: other threads are gone, and nothing is under way."""
        if self.summaries is not None:
            self.summaries.remove()
            self.summaries = None
        self._thread.resting = self._thread.withdrawn = None
        self._activate(False)  # so that what was pending is dropped with the window that opens
        self.open_window()

    # -- the interceptor of this thread ------------------------------------------------------------

    def enter_thread(self) -> None:
        """Torch keeps its modes by thread."""
        if self.active:
            self._enter()

    def _enter(self) -> None:
        """Enter the mode, but never between somebody else's modes: they leave in their own order."""
        if self._thread.mode is not None:
            self._thread.mode.on = True
            return
        if self._blind or self.aside or self.compiled.inside() or not _only_device_modes():
            return
        mode = Mode(self, self.attention, self.recorder, self.backwards, self.switches, self.stepping)
        self._modes.append(mode)
        mode.__enter__()
        self._thread.mode = mode

    def _leave(self) -> None:
        mode = self._thread.mode
        if mode is None:
            return
        mode.on = False
        if private.current_mode() is mode:
            mode.__exit__(None, None, None)
            self._thread.mode = None

    def rest(self) -> bool:
        """An optimizer does its arithmetic now: hundreds of calls, none of them the user's.

        True if there was something to put to rest.
        """
        mode = self._thread.mode
        if mode is None or private.current_mode() is not mode:
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

    def withdraw(self) -> None:
        """Compiled code runs now: torch compiles it anew for every mode that it finds."""
        mode = self._thread.mode
        above = private.take_out(mode) if mode is not None else None
        if mode is not None and above is not None:
            self._thread.mode, self._thread.withdrawn = None, (mode, above)

    def come_back(self) -> None:
        """It is over."""
        withdrawn, self._thread.withdrawn = self._thread.withdrawn, None
        if self.active and withdrawn is not None and private.put_back(*withdrawn):
            self._thread.mode = withdrawn[0]
        elif self.active:
            self._enter()

    def recording(self) -> bool:
        """Is this thread being recorded?"""
        if not self.active or traced():
            return False
        mode = self._thread.mode
        return self._blind or self.compiled.inside() or (mode is not None and mode.on)

    def _activate(self, flag: bool) -> None:
        self.active = self.switches.alert = flag
        self.events.quiet = not flag and all(r.clears for r in self.optimizers.all() if r.steps)

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
            for record in self.optimizers.all():
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

    # -- what is told ------------------------------------------------------------------------------

    def given_nothing(self, kind: str, asked: emptiness.Asked, frame: FrameType) -> None:
        """An optimizer that cannot be made: the parameters that it might have been meant for."""
        if self.aside:
            return
        held = {key for record in self.optimizers.all() for key in record.held}
        params = list(self.recorder.params.values())
        found = emptiness.candidates(asked, params, held)
        self.name_new_things(found, frame)
        named = {param.key: param for param in found}
        known = asked.module is not None
        self.empty.append(EmptyRecord(locate(frame), kind, named, known, asked.used_up))

    def compiles(self, frame: FrameType) -> bool:
        """``torch.compile``: what is compiled is left alone. The first?"""
        first = "torch.compile" not in self.unseen
        self.unseen.setdefault("torch.compile", locate(frame))
        return first

    def transformed(self, frame: FrameType) -> None:
        """Inside of ``vmap`` or ``func.grad``, which gives out gradients that no backward has computed."""
        if self.given_out is None and private.differentiates():
            self.given_out = locate(frame)

    def lose_sight(self) -> None:
        """Nobody says when compiled code runs: no mode is entered any more."""
        self._blind = True
        self._leave()

    def _frozen(self, param: Param, where: Where | None) -> None:
        param.frozen_at, param.frozen_when = where, clock()

    def requires_grad(self, tensor: torch.Tensor, flag: bool, frame: FrameType) -> None:
        """``requires_grad = ...`` or ``requires_grad_(...)``."""
        where = locate(frame)
        node = self.recorder.table.get(tensor)
        if node is not None and node.parameter is not None:
            self._frozen(node.parameter, None if flag else where)
        elif not flag:
            if isinstance(tensor, torch.nn.Parameter):
                self._frozen(self.recorder.param(tensor, stack(frame)), where)
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

    def find_names(self, frame: FrameType | None) -> Names:
        """Name parameters by what is in scope at ``frame``."""
        params = list(self.recorder.params.values())
        names = self._walked(params, frame)
        self.aliases = names.aliases(params) or self.aliases
        return names

    def _walked(self, params: list[Param], frame: FrameType | None) -> Names:
        makers = [id(r.ref()) for r in self.optimizers.all() if r.by_hand]
        copies = [id(p.ref()) for p in params if p.adopted]
        names = Names(frozenset((*makers, *copies)) - {id(None)})
        for scope in variables(self._namespace(), frame):
            names.walk(scope)
        names.give(params, in_scope=frame is not None)
        return names

    def records(self) -> Records:
        """What there is so far, with the names of now."""
        params = [param.copy() for param in list(self.recorder.params.values())]
        names = self._walked(params, None)
        self.unnamed = self.unnamed or names.trouble
        known = {param.key: param for param in params}
        optimizers = self.optimizers.copies(known, names.optimizers)
        last = self.by_hand.untold()
        for record in optimizers:
            record.steps += record.key in last
            self.stepping.figures.run_ends(record)
        return Records(
            optimizers=optimizers,
            params=known,
            pending=list(self.backwards.pending),
            assigned=dict(self.backwards.assigned),
            failure=self.failure,
            gate=self.switches.gate(),
            captured=self.unseen.get("torch.compile"),
            clips=[*self.events.clips, *self.events.dropped.values()],
            clears=list(self.events.clears),
            copies=self.events.copies.all(),
            empty=list(self.empty),
            switches=list(self.training_modes.lines.values()),
            handovers=list(self.backwards.handovers.values()),
            aliases=names.aliases(params) or self.aliases,
            flags=self.flags.all(),
        )


def _only_device_modes() -> bool:
    """True if nobody but a default device is on torch's stack of function modes."""
    return all(isinstance(mode, private.DEVICE) for mode in private.function_modes())
