"""When to record: the first updates of each optimizer, a few later on, and whenever something changes."""

from __future__ import annotations

from collections.abc import Iterable

from whygrad.backends.recording.records import OptimizerRecord

FIRST = 6
AGAIN = 2
THINNING = 10
MOST_TRIGGERS = 6
FIRST_WINDOW = 100


def wants(record: OptimizerRecord, absent_changed: bool) -> bool:
    """Called after a step: shall the next updates of this optimizer be recorded?"""
    if record.steps == 1:
        record.wanted, record.next_window = FIRST, FIRST_WINDOW
    elif record.steps >= record.next_window:
        record.next_window *= THINNING
        record.wanted = record.recorded + AGAIN
    elif absent_changed and record.triggers < MOST_TRIGGERS:
        record.triggers += 1
        record.wanted = max(record.wanted, record.recorded + AGAIN)
    return record.recorded < record.wanted


def satisfied(records: Iterable[OptimizerRecord], steps: int) -> bool:
    """Nobody wants to be recorded any more. An optimizer that has fallen silent is not waited for."""
    waiting = [r for r in records if r.steps and r.recorded < r.wanted]
    return all(steps > 4 * FIRST * (1 + len(waiting)) + r.last_step_number for r in waiting)
