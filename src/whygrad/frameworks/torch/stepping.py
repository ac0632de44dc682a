"""Optimizer steps: the gradients as they are about to be used, and which updates to record."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

import torch

from whygrad.doors import door
from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.figures import Figures
from whygrad.frameworks.shared.frames import Where, locate
from whygrad.frameworks.shared.nodes import Param, clock
from whygrad.frameworks.shared.objects import is_a, shown
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming, Safety, Window
from whygrad.frameworks.shared.records import NEVER, BackwardRecord, OptimizerRecord, UpdateRecord
from whygrad.frameworks.shared.standing import Standing
from whygrad.frameworks.torch import private
from whygrad.frameworks.torch.children import shared_with_children
from whygrad.frameworks.torch.compiled import unread
from whygrad.frameworks.torch.differentiating import Backwards
from whygrad.frameworks.torch.distributed import Reducers, prints, rank
from whygrad.frameworks.torch.events import Events
from whygrad.frameworks.torch.grad_mode import Switches
from whygrad.frameworks.torch.numbers import TorchNumbers
from whygrad.frameworks.torch.ports import Resting, Summarizer
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.tracing import alone, traced


class _Thread(threading.local):
    inside: bool = False


class _Observer(Safety, Window, Resting, Naming, Protocol):
    on_step: Callable[[], None] | None

    @property
    def summaries(self) -> Summarizer | None: ...

    def stepped(self) -> None: ...


class Steps:
    """Hooks around every ``step()`` of every optimizer."""

    def __init__(
        self,
        observer: _Observer,
        optimizers: Optimizers,
        attention: Attention,
        switches: Switches,
        recorder: Recorder,
        events: Events,
        backwards: Backwards,
        standing: Standing,
    ) -> None:
        self._observer, self._optimizers, self._attention = observer, optimizers, attention
        self._switches, self._recorder = switches, recorder
        self._events, self._backwards, self._standing = events, backwards, standing
        self._records = optimizers.by_address
        self._thread = _Thread()
        self.rank = -1  # among processes that train together
        self.reducers = Reducers()
        self.shared = False  # processes that the program has started share its weights
        self.figures = Figures(TorchNumbers(), attention)

    def inside(self) -> bool:
        """In an optimizer's own arithmetic?"""
        return self._thread.inside

    def made(self, optimizer: Any, where: Where | None) -> OptimizerRecord:
        """A new optimizer."""
        record = self._optimizers.made(optimizer, where)
        record.held = self._held(optimizer)
        record.summary_from = NEVER if self._observer.summaries is None else 0
        self._events.quiet = False
        return record

    def record(self, optimizer: Any) -> OptimizerRecord:
        """The record of an optimizer, also of one that was made before we came."""
        return self._optimizers.of(optimizer) or self.made(optimizer, None)

    @unread
    @door
    def before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """The hook in front of a step. Most steps are only counted: every look at anything is felt here."""
        record = self._records.get(id(optimizer))
        if record is not None and record.steps < record.quiet_until:
            record.counting = self._switches.quiet = True
        elif os.getpid() == self._observer.pid:
            try:
                self._begins(record, optimizer, args, kwargs, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)

    def _begins(
        self, record: OptimizerRecord | None, optimizer: Any, args: Any, kwargs: Any, frame: FrameType
    ) -> None:
        observer, closure = self._observer, _has_closure(args, kwargs)
        if record is None or record.ref() is not optimizer or record.steps >= record.looked_until or closure:
            if not observer.aside and not traced():
                with alone():
                    self._step_begins(optimizer, args, kwargs, frame)
        else:
            record.counting = record.begun = False  # the last step may have raised
        if observer.summaries is not None:
            observer.summaries.before(optimizer, frame)

    @unread
    @door
    def after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """The hook behind a step."""
        record = self._records.get(id(optimizer))
        if record is not None and record.counting:
            record.counting = self._switches.quiet = False
            record.steps += 1  # noted here; counted with the next one that is looked at
        elif os.getpid() == self._observer.pid:
            try:
                inside = _has_closure(args, kwargs) or private.compiler() is not None
                self._ends(record, optimizer, inside, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)

    def _ends(self, record: OptimizerRecord | None, optimizer: Any, inside: bool, frame: FrameType) -> None:
        """``inside``: the gradients that were used are those of the end, since they were computed in it."""
        observer, counted = self._observer, 0 if record is None else record.steps + 1
        try:
            if record is not None:
                begun, record.begun = record.begun, False
                if (begun or record.steps >= record.looked_until) and not observer.aside and not traced():
                    with alone():
                        self._step_ends(optimizer, frame) if begun else self._late(optimizer, record, frame)
                else:
                    self._optimizers.count(record)
                if observer.summaries is not None and record.steps + 1 >= record.summary_from:
                    observer.summaries.after(optimizer, inside)
        except Exception as error:
            observer.stepped_aside(error)
            if record is not None:
                self._optimizers.at_least(record, counted)  # whatever failed, it has stepped
        observer.stepped()
        if record is not None and observer.on_step is None and not record.closures:
            record.quiet_until = min(record.looked_until, record.summary_from - 2)

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._observer.resume()
        self._thread.inside = not any(callable(a) for a in (*args[1:], *kwargs.values()))
        record = self.record(optimizer)
        record.begun, record.counting = True, False
        record.closures = record.closures or _has_closure(args, kwargs)
        self._note_rates(record, optimizer)
        if self._thread.inside:
            self._look(optimizer, record, frame)
            self._observer.rest()

    def _note_rates(self, record: OptimizerRecord, optimizer: Any) -> None:
        if record.lr_always_zero or not record.steps:
            record.lr_always_zero = all(float(g.get("lr", 1)) == 0 for g in optimizer.param_groups)
            record.maximize = any(g.get("maximize", False) for g in optimizer.param_groups)
        rates = [float(g["lr"]) for g in optimizer.param_groups if "lr" in g]
        record.rate(max(rates, default=0.0))
        resting = [p for g in optimizer.param_groups if float(g.get("lr", 1)) == 0 for p in g["params"]]
        record.rests(self._recorder.param(p).key for p in resting)

    def made_in_compiled(self, optimizer: Any, frame: FrameType) -> None:
        """Compiled code has made a step: the hook behind it was not run, nor perhaps the one in front."""
        record = self.record(optimizer)
        if record.steps < record.quiet_until:
            record.steps += 1
        else:
            self._ends(record, optimizer, True, frame)
        record.counting = self._switches.quiet = False

    def _late(self, optimizer: Any, record: OptimizerRecord, frame: FrameType) -> None:
        """A step that nobody saw begin. What it used may be gone again."""
        self._note_rates(record, optimizer)
        self._look(optimizer, record, frame, late=True)
        self.figures.forget()
        self._step_is_over(record)

    def _look(self, optimizer: Any, record: OptimizerRecord, frame: FrameType, late: bool = False) -> None:
        """The gradients, as the optimizer is about to use them; ``late``: as it has left them."""
        absent = frozenset(self._recorder.param(p).key for p in _held_by(optimizer) if p.grad is None)
        if late and absent >= record.held.keys():
            absent -= self._reached(record)
        changed = absent != record.absent_last
        record.absent_last = absent
        if record.absent_always is None or record.absent_always:
            record.absent(absent)
        recording = self._observer.recording()
        if recording:
            self._record_update(optimizer, record, frame, late)
        elif changed or not record.steps:
            record.held = self._held(optimizer)
        elif record.pulses.due(record.steps + 1):
            changed = self._pulse(optimizer, record) or changed
        record.changed = changed
        if recording or self._standing.due(self._optimizers.steps):
            self._standing.look(list(self._recorder.params.values()))

    def _pulse(self, optimizer: Any, record: OptimizerRecord) -> bool:
        """The size of the gradients now and then; true when they are no longer finite."""
        found = {self._recorder.param(p).key: p.grad for p in _held_by(optimizer) if p.grad is not None}
        return self.figures.pulse(record, found)

    def _reached(self, record: OptimizerRecord) -> frozenset[int]:
        """What the backwards since its last step have reached."""
        return frozenset(key for b in self._backwards.since(record.last_step) for key in b.reached)

    def _given_out(self, record: OptimizerRecord) -> dict[int, float]:
        """How large the gradients were that ``autograd.grad`` has given out for its parameters."""
        since = self._backwards.since(record.last_step)
        return {k: top for b in since for k, top in b.largest.items() if k in record.held}

    def _record_update(self, optimizer: Any, record: OptimizerRecord, frame: FrameType, late: bool) -> None:
        record.held = self._held(optimizer)
        moving = all(group.get("lr", 1) != 0 for group in optimizer.param_groups)
        self._keep(record, frame, late, moving)

    def made_by_hand(self, record: OptimizerRecord, frame: FrameType) -> None:
        """Somebody writes into parameters what he has computed from their gradients: the first is written."""
        tensors = {key: t for key, param in record.held.items() if (t := param.ref()) is not None}
        absent = {key for key, t in tensors.items() if t.grad is None} - self._reached(record)
        record.changed = absent != record.absent_last
        record.absent_last = frozenset(absent)
        record.absent(record.absent_last)
        self._keep(record, frame, late=True, moving=False)
        self._recorder.operations = 0
        self._standing.look(list(self._recorder.params.values()))

    def _keep(self, record: OptimizerRecord, frame: FrameType, late: bool, moving: bool) -> None:
        where, held = locate(frame), record.held
        self._observer.name_new_things(held.values(), frame)
        tensors = {key: t for key, param in held.items() if (t := param.ref()) is not None}
        self.shared = self.shared or shared_with_children(tensors.values())
        gradients = {key: t.grad for key, t in tensors.items() if t.grad is not None}
        largest = self.figures.largest(gradients)
        if record.by_hand:
            largest = {**self._given_out(record), **largest}
        absent = held.keys() - gradients.keys()
        if late and (record.by_hand or not gradients):
            absent = absent - self._reached(record)
        zero = {key for key, top in largest.items() if top == 0}
        record.doubted = self._recorder.groups.doubt(record.doubted)
        if zero:
            self._recorder.probe(tensors.values())  # what is in the values on the way?
        for key, param in held.items():
            param.trained = param.trained or key in gradients
            param.proper = param.proper or record.steps > 0  # an input is not held for longer than a step
            param.writer = ((record.name or "optimizer") + ".step()", where)
        for backward in self._backwards.live:
            hit = (backward.reached.keys() & held.keys()) - backward.cleared
            if hit:
                backward.applied |= hit
        self._backwards.stepped_on(held)
        backwards = self._led_to(record)
        if absent and backwards and not backwards[-1].unused:
            backwards[-1].unused = self._recorder.unused_scalars(record.last_step)
        update = UpdateRecord(
            record.steps + 1, where, frozenset(absent), frozenset(zero), backwards, record.last_step
        )
        if not late:
            update.lost, update.lost_at = self._lost(record)
        update.largest = largest
        self.rank = rank()
        if self.rank >= 0 and not late:
            update.prints = prints(tensors, backwards[-1].sums if backwards else {})
            update.wrapped = self.reducers.around(tensors.values())
        record.keep(update)
        self.figures.step_begins(record, update, gradients.values(), held.values(), moving)

    def _lost(self, record: OptimizerRecord) -> tuple[frozenset[int], Where | None]:
        """Gradients that were computed for this step and cleared before it, and where."""
        since = self._backwards.since(record.last_step)
        found: set[int] = set()
        for key in record.held:
            mine = [b for b in since if key in b.reached and not b.wanted]
            if mine and key in mine[-1].cleared and key not in mine[-1].applied | mine[-1].taken:
                found.add(key)
        if not found:
            return frozenset(), None
        clears = [c for c in self._events.clears if c.touched.keys() & found and c.time > since[-1].time]
        return (frozenset(found), clears[-1].where) if clears else (frozenset(), None)

    def _led_to(self, record: OptimizerRecord) -> tuple[BackwardRecord, ...]:
        """The backwards that this step is the consequence of, as far as one can tell."""
        since = self._backwards.since(record.last_step)
        for backward in since:
            if not backward.follower:
                backward.follower, backward.followed = record.key, clock()
        mine = [b for b in since if (b.reached.keys() & record.held.keys()) - b.cleared]
        next_to = [b for b in since if b.follower == record.key]
        if not mine and not next_to and since:  # several optimizers step in a row after several backwards
            next_to = [b for b in since if b.follower == since[-1].follower]
        chosen = mine + [b for b in next_to if b not in mine]
        return tuple(sorted(chosen, key=lambda b: b.time))

    def _step_ends(self, optimizer: Any, frame: FrameType) -> None:
        self._observer.resume()
        record = self._records[id(optimizer)]
        self.figures.step_ends()
        if not self._thread.inside:  # it came with a closure: the gradients are those of its last call
            self._look(optimizer, record, frame)
            self.figures.forget()
        self._thread.inside = False
        if not record.steps and not record.closures:  # with a closure one step may be a whole search
            record.remembers = _has_moments(optimizer)
        self._step_is_over(record)

    def _step_is_over(self, record: OptimizerRecord) -> None:
        self._recorder.operations = 0
        self._attention.step_taken(record, self._observer)
        record.looked_until = self._attention.next_look(record, self._observer.is_open)

    def params(self, optimizer: Any) -> list[Param]:
        """What an optimizer holds now."""
        return [self._recorder.param(tensor) for tensor in _held_by(optimizer)]

    def _held(self, optimizer: Any) -> dict[int, Param]:
        return {param.key: param for param in self.params(optimizer)}


def _held_by(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _has_moments(optimizer: Any) -> bool:
    """Does it keep a tensor for a parameter, number by number? A count of steps is none."""
    state: Any = shown(optimizer, "state")
    kept = list(dict.items(state)) if is_a(state, dict) else []
    of_each = [(p, value) for p, values in kept if is_a(values, dict) for value in dict.values(values)]
    return any(is_a(p, torch.Tensor) and is_a(v, torch.Tensor) and v.shape == p.shape for p, v in of_each)


def _has_closure(args: Any, kwargs: Any) -> bool:
    return len(args) > 1 or "closure" in kwargs
