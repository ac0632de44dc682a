"""When to look: the first updates of each optimizer, a few later on, and whenever something changes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from whygrad.frameworks.shared.budget import BUDGET, Budget
from whygrad.frameworks.shared.nodes import clock
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Window
from whygrad.frameworks.shared.records import OptimizerRecord


class Attention:
    """Who is looked at, and when, within the budget. One for each framework that is watched."""

    def __init__(self, optimizers: Optimizers, budget: Budget | None = None) -> None:
        self.budget = BUDGET if budget is None else budget
        self._optimizers = optimizers
        self._asked = 0  # how often somebody has asked for a framework that trains nothing
        self._measured: dict[Hashable, int] = {}  # line -> how often

    # -- recording ---------------------------------------------------------------------------------

    def wants(self, record: OptimizerRecord) -> bool:
        """Called after a step: shall the next updates of this optimizer be recorded?"""
        budget = self.budget
        if record.steps == 1:
            record.wanted, record.next_window = budget.first, budget.window
        elif record.steps >= record.next_window:
            record.next_window *= budget.thinning
            record.wanted = record.recorded + budget.again
        elif record.changed and record.triggers < budget.triggers:
            record.triggers += 1
            record.wanted = max(record.wanted, record.recorded + budget.again)
        if record.recorded < record.wanted:
            return True
        if record.doubted:
            record.next_window = min(record.next_window, budget.doubling * record.steps)
        return False

    def step_taken(self, record: OptimizerRecord, window: Window) -> None:
        """An eager step is over: are the next ones recorded?"""
        self._optimizers.count(record)
        if window.recording():
            record.last_step = clock()
        if self.wants(record):
            window.open_window()
        else:
            self.close_if_done(window)

    def close_if_done(self, window: Window) -> None:
        """Enough has been recorded for now?"""
        if window.is_open and self.satisfied():
            window.close_window()

    def satisfied(self) -> bool:
        """Nobody wants to be recorded any more. An optimizer that has fallen silent is not waited for.

        Compiled steps are recorded where they are traced; a few calls show what is done around them.
        """
        known = self._optimizers.all()
        if any(r.traced and r.steps < self.budget.calls for r in known):
            return False
        waiting = [r for r in known if r.steps and r.recorded < r.wanted and not r.traced]
        silence = self.budget.silent * self.budget.first * (1 + len(waiting))
        return all(self._optimizers.steps > silence + r.last_step_number for r in waiting)

    def tired(self, operations: int) -> bool:
        """So many operations without a step: the rest of a very long rollout is not recorded."""
        return operations > self.budget.operations

    # -- judging -----------------------------------------------------------------------------------

    def judged(self, updates: int, half_blind: bool) -> bool:
        """Every optimizer in use has been recorded often enough, or has been silent for long."""
        known, steps = self._optimizers.all(), self._optimizers.steps
        if not steps:
            return self._in_vain(updates, known)
        if half_blind:
            return steps >= updates
        stepped = [r for r in known if r.steps]
        if len(stepped) < len(known) and steps < self.budget.patience * updates * len(known):
            return False
        late = steps >= self.budget.late * updates * max(1, len(stepped))
        return late or all(max(r.recorded, r.steps * r.traced) >= updates for r in stepped)

    def _in_vain(self, updates: int, known: Sequence[OptimizerRecord]) -> bool:
        """Another framework has made a step. What has no optimizer is imported and unused."""
        self._asked += 1
        return not known or self._asked >= self.budget.patience * updates

    # -- looks between two windows -----------------------------------------------------------------

    def next_look(self, record: OptimizerRecord, recording: bool) -> int:
        """Until when no look is needed: nothing is recorded, and every gradient has been there."""
        if recording or record.absent_always is None or record.absent_always or record.lr_always_zero:
            return 0
        often, seldom = self.budget.pause
        return min(record.steps + min(max(often, record.steps // often), seldom), record.next_window - 1)

    # -- figures -----------------------------------------------------------------------------------

    def compares(self, record: OptimizerRecord) -> bool:
        """Shall the update that was recorded last be compared with the one before?"""
        return record.recorded <= self.budget.directions

    def measures(self, record: OptimizerRecord) -> bool:
        """Shall it be measured how far it goes?"""
        return record.recorded % self.budget.measured == 1 and record.recorded < self.budget.motions

    def measures_shares(self, line: Hashable) -> bool:
        """Shall the terms of the loss on this line be told apart? Then that is one time more."""
        times = self._measured.get(line, 0)
        if times < self.budget.shares:
            self._measured[line] = times + 1
        return times < self.budget.shares

    # -- compiled updates --------------------------------------------------------------------------

    def around_calls(self, record: OptimizerRecord) -> bool:
        """Is it still recorded what is done around the calls of a compiled update?"""
        return record.steps < self.budget.calls

    def looks_closely(self, record: OptimizerRecord) -> bool:
        """Is this one of the first looks, which are kept whole?"""
        return len(record.looks) < self.budget.looks

    def measures_call(self, record: OptimizerRecord) -> bool:
        """Shall it be measured how far a compiled update goes? Of later ones, which come rarely, each."""
        return not self.looks_closely(record) or len(record.looks) % self.budget.measured == 0

    def next_call(self, record: OptimizerRecord) -> int:
        """The step before which no call of a compiled update is looked at."""
        often, seldom = self.budget.compiled_pause
        pause = 1 if self.looks_closely(record) else min(max(often, record.steps // 8), seldom)
        return record.steps + pause
