"""Optimizer steps: the gradients as they are about to be used, and which updates to record."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

from whygrad.backends.recording import schedule
from whygrad.backends.recording.frames import Where, locate
from whygrad.backends.recording.nodes import Param, clock
from whygrad.backends.recording.records import NEVER, BackwardRecord, OptimizerRecord, UpdateRecord
from whygrad.backends.torch import health
from whygrad.model import Pulse

if TYPE_CHECKING:
    from whygrad.backends.torch.watch import Watch


_MOST_DEAD = 256
_DIRECTIONS = 16  # recorded updates whose gradients are compared with those before; few runs have more
_LOOK_EVERY = 16, 256  # between recorded updates, at first and later on: are the same gradients there?


class _Thread(threading.local):
    inside: bool = False


class Steps:
    """Hooks around every ``step()`` of every optimizer."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._switches, self._records = watch, watch.switches, watch.optimizers
        self._thread = _Thread()
        self._motion = health.Motion()

    def inside(self) -> bool:
        """In an optimizer's own arithmetic?"""
        return self._thread.inside

    def made(self, optimizer: Any, where: Where | None) -> None:
        """A new optimizer."""
        records = self._records
        old = records.pop(id(optimizer), None)
        if old is not None and len(records) < _MOST_DEAD:
            records[-old.key] = old  # a dead optimizer whose address was used again
        record = records[id(optimizer)] = OptimizerRecord(optimizer, where)
        record.held = self.held(optimizer)
        record.summary_from = NEVER if self._watch.summaries is None else 0
        self._watch.events.quiet = False

    def before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """The hook in front of a step. Most steps are only counted: every look at anything is felt here."""
        record = self._records.get(id(optimizer))
        if record is not None and record.steps < record.quiet_until:
            record.counting = self._switches.quiet = True
        elif os.getpid() == self._watch.pid:
            self._begins(record, optimizer, args, kwargs, sys._getframe(1))

    def _begins(
        self, record: OptimizerRecord | None, optimizer: Any, args: Any, kwargs: Any, frame: FrameType
    ) -> None:
        watch, closure = self._watch, _has_closure(args, kwargs)
        if record is None or record.ref() is not optimizer or record.steps >= record.looked_until or closure:
            if not watch.aside:
                watch.safely(self._step_begins, optimizer, args, kwargs, frame)
        else:
            record.counting = record.begun = False  # the last step may have raised
        if watch.summaries is not None:
            watch.summaries.before(optimizer, frame)

    def after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """The hook behind a step."""
        record = self._records.get(id(optimizer))
        if record is not None and record.counting:
            record.counting = self._switches.quiet = False
            record.steps += 1
        elif os.getpid() == self._watch.pid:
            self._ends(record, optimizer, _has_closure(args, kwargs), sys._getframe(1))

    def _ends(self, record: OptimizerRecord | None, optimizer: Any, closure: bool, frame: FrameType) -> None:
        watch = self._watch
        if record is not None:
            begun, record.begun = record.begun, False
            if begun and not watch.aside:
                watch.safely(self._step_ends, optimizer, frame)
            else:
                self._count(record)
            if watch.summaries is not None and record.steps + 1 >= record.summary_from:
                watch.summaries.after(optimizer, closure)
        call = watch.on_step  # another thread may take it away meanwhile
        if call is not None:
            call()
        if record is not None and watch.on_step is None and not record.closures:
            record.quiet_until = min(record.looked_until, record.summary_from - 2)

    def _count(self, record: OptimizerRecord) -> None:
        record.steps += 1
        self._watch.steps += record.steps - record.told
        record.told, record.last_step_number = record.steps, self._watch.steps

    def _looked_until(self, record: OptimizerRecord) -> int:
        """Until when no look is needed: nothing is recorded, and every gradient has been there."""
        if self._watch.is_open or record.absent_always is None or record.absent_always:
            return 0
        if record.lr_always_zero:
            return 0
        often, seldom = _LOOK_EVERY
        pause = min(max(often, record.steps // often), seldom)
        return min(record.steps + pause, record.next_window - 1)

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._watch.resume()
        self._thread.inside = not any(callable(a) for a in (*args[1:], *kwargs.values()))
        record = self._records.get(id(optimizer))
        if record is None or record.ref() is not optimizer:
            self.made(optimizer, None)
            record = self._records[id(optimizer)]
        record.begun, record.counting = True, False
        record.closures = record.closures or _has_closure(args, kwargs)
        if record.lr_always_zero:
            record.lr_always_zero = all(float(g.get("lr", 1)) == 0 for g in optimizer.param_groups)
            record.maximize = any(g.get("maximize", False) for g in optimizer.param_groups)
        if self._thread.inside:
            self._look(optimizer, record, frame)
            self._watch.rest()

    def _look(self, optimizer: Any, record: OptimizerRecord, frame: FrameType) -> None:
        """The gradients, as the optimizer is about to use them."""
        absent = frozenset(id(p) for g in optimizer.param_groups for p in g["params"] if p.grad is None)
        changed = absent != record.absent_last
        record.absent_last = absent
        if record.absent_always is None or record.absent_always:
            record.absent(absent)
        if self._watch.recording():
            self._record_update(optimizer, record, frame)
        elif changed or not record.steps:
            record.held = self.held(optimizer)
        elif record.pulses.due(record.steps + 1):
            changed = self._pulse(optimizer, record) or changed
        record.changed = changed

    def _pulse(self, optimizer: Any, record: OptimizerRecord) -> bool:
        """The size of the gradients now and then; true when they are no longer finite."""
        tensors = (p for g in optimizer.param_groups for p in g["params"] if p.grad is not None)
        found = {record.keys[id(p)]: p.grad for p in tensors if id(p) in record.keys}
        return record.pulses.add(Pulse(record.steps + 1, health.largest(found)))

    def _record_update(self, optimizer: Any, record: OptimizerRecord, frame: FrameType) -> None:
        where = locate(frame)
        record.held = held = self.held(optimizer)
        self._watch.name_new_things(held.values(), frame)
        tensors = {key: t for key, param in held.items() if (t := param.ref()) is not None}
        gradients = {key: t.grad for key, t in tensors.items() if t.grad is not None}
        largest = health.largest(gradients)
        absent = held.keys() - gradients.keys()
        zero = {key for key, top in largest.items() if top == 0}
        if zero:
            self._watch.recorder.probe(tensors.values())  # what is in the values on the way?
        for key, param in held.items():
            param.trained = param.trained or key in gradients
            param.writer = ((record.name or "optimizer") + ".step()", where)
        for backward in self._watch.backwards.live:
            hit = (backward.reached.keys() & held.keys()) - backward.cleared
            if hit:
                backward.applied |= hit
        backwards = self._led_to(record)
        if absent and backwards and not backwards[-1].unused:
            backwards[-1].unused = self._watch.recorder.unused_scalars(record.last_step)
        update = UpdateRecord(
            record.steps + 1, where, frozenset(absent), frozenset(zero), backwards, record.last_step
        )
        update.lost, update.lost_at = self._lost(record)
        update.largest = largest
        if record.recorded < _DIRECTIONS:
            update.turned = health.turned(record, update.number, gradients.values())
        record.pulses.add(Pulse(update.number, largest))
        record.keep(update)
        self._motion.begins(record, update, tensors)

    def _lost(self, record: OptimizerRecord) -> tuple[frozenset[int], Where | None]:
        """Gradients that were computed for this step and cleared before it, and where."""
        since = self._watch.backwards.since(record.last_step)
        found: set[int] = set()
        for key in record.held:
            mine = [b for b in since if key in b.reached and not b.wanted]
            if mine and key in mine[-1].cleared and key not in mine[-1].applied:
                found.add(key)
        if not found:
            return frozenset(), None
        clears = [
            c for c in self._watch.events.clears if c.touched.keys() & found and c.time > since[-1].time
        ]
        return (frozenset(found), clears[-1].where) if clears else (frozenset(), None)

    def _led_to(self, record: OptimizerRecord) -> tuple[BackwardRecord, ...]:
        """The backwards that this step is the consequence of, as far as one can tell."""
        since = self._watch.backwards.since(record.last_step)
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
        self._watch.resume()
        record = self._records[id(optimizer)]
        self._motion.ends()
        if not self._thread.inside:  # it came with a closure: the gradients are those of its last call
            self._look(optimizer, record, frame)
            self._motion.forget()  # the step was over before its weights were looked at
        self._thread.inside = False
        self._count(record)
        if self._watch.recording():
            record.last_step = clock()
            self._watch.recorder.operations = 0
        if schedule.wants(record, record.changed):
            self._watch.open_window()
        elif self._watch.is_open and schedule.satisfied(self._records.values(), self._watch.steps):
            self._watch.close_window()
        record.looked_until = self._looked_until(record)

    def held(self, optimizer: Any) -> dict[int, Param]:
        """What an optimizer holds now."""
        tensors = [p for g in optimizer.param_groups for p in g["params"]]
        params = [self._watch.recorder.param(tensor) for tensor in tensors]
        record = self._records.get(id(optimizer))
        if record is not None:
            record.keys.update((id(t), p.key) for t, p in zip(tensors, params, strict=True))
        return {param.key: param for param in params}


def _has_closure(args: Any, kwargs: Any) -> bool:
    return len(args) > 1 or "closure" in kwargs
