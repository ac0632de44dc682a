"""What is remembered: extremes survive, memory does not grow."""

import math
from array import array

import pytest

from whygrad.summaries import history, schedule
from whygrad.summaries.history import History

NAMES = [("opt", "w", "gradients/norm"), ("opt", "w", "update/ratio")]


def test_a_short_run_is_remembered_as_it_was(functions):
    past = History(NAMES, functions)
    for step in range(1, 101):
        past.add(step * 10, array("d", [step, math.nan if step < 51 else 1.0]))
    norm, ratio = past.series()
    assert norm.steps == tuple(range(10, 1010, 10))
    assert list(norm.low) == list(norm.high) == list(norm.mean) == [float(s) for s in range(1, 101)]
    assert all(math.isnan(v) for v in ratio.mean[:50]) and set(ratio.mean[50:]) == {1.0}


def test_a_spike_in_a_hundred_thousand_updates_is_still_there(functions):
    past = History(NAMES, functions)
    for step in range(1, 100_001):
        past.add(step, array("d", [1e6 if step == 77_777 else 1.0, -1.0 if step == 5 else 2.0]))
    norm, ratio = past.series()
    assert 256 <= len(norm.steps) <= 512
    assert max(norm.high) == 1e6
    assert min(norm.low) == 1.0
    (where,) = [i for i, v in enumerate(norm.high) if v > 1]
    assert norm.steps[where - 1] < 77_777 <= norm.steps[where]
    assert min(ratio.low) == -1.0
    assert norm.steps[-1] == 100_000


def test_memory_is_bounded(functions):
    names = [("opt", f"w{i}", "gradients/norm") for i in range(5_000)]
    past = History(names, functions, memory=8 << 20)
    row = array("d", [1.0] * 5_000)
    before = sum(len(c) * c.itemsize for c in past._columns)
    for step in range(300):
        past.add(step, row)
    assert sum(len(c) * c.itemsize for c in past._columns) == before <= 9 << 20


def test_saved_and_loaded(functions, tmp_path):
    past = History(NAMES, functions)
    for step in range(1, 2000):
        past.add(step, array("d", [math.sin(step), step]))
    series = tuple(past.series())
    (tmp_path / "watch.history").write_bytes(history.packed(series))
    again = history.load(tmp_path / "watch.history")
    assert again == series
    (tmp_path / "other").write_text('{"format": "something else"}\n')
    with pytest.raises(ValueError, match="not a history"):
        history.load(tmp_path / "other")


def test_schedules():
    assert schedule.schedule(False) is schedule.schedule(None) is None
    every = schedule.schedule(True)
    assert [n for n in range(1, 5) if every.due(n, "")] == [1, 2, 3, 4]
    fifth = schedule.schedule(5)
    assert [n for n in range(1, 21) if fifth.due(n, "")] == [5, 10, 15, 20]
    one = schedule.schedule(lambda number: number == 3)
    assert [n for n in range(1, 21) if one.due(n, "")] == [3]
    two = schedule.schedule(lambda number, optimizer: optimizer == "actor")
    assert two.due(1, "actor") and not two.due(1, "critic")
    assert str(every) == "every update" and str(fifth) == "every 5 updates"


@pytest.mark.parametrize(
    ("wrong", "error"), [(0, ValueError), (-3, ValueError), ("often", TypeError), (1.5, TypeError)]
)
def test_a_schedule_that_is_none_is_told_at_once(wrong, error):
    with pytest.raises(error, match="summarize_grads_and_vars"):
        schedule.schedule(wrong)
