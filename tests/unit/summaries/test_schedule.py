"""When an update is summarized."""

import pytest

from whygrad.summaries.schedule import schedule


@pytest.mark.parametrize("every", [1, 2, 5, 100])
def test_near_means_that_one_of_the_next_updates_is_due(every):
    wanted = schedule(every)
    for number in range(250):
        for many in (1, 2, 7):
            due = [wanted.due(n, "") for n in range(number + 1, number + many + 1)]
            assert wanted.near(number, many) == any(due)


def test_a_function_is_asked_only_when_the_update_is_there():
    asked = []
    wanted = schedule(lambda number: asked.append(number) or number == 3)
    assert wanted.near(0, 1) and not asked
    assert [wanted.due(n, "optimizer") for n in (1, 2, 3)] == [False, False, True]
    assert asked == [1, 2, 3]
