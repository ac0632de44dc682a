"""Ranks that train one model: what was measured of each of them, and what is said of all."""

from __future__ import annotations

import pytest

from whygrad.model import Confidence, Severity, Site, Trace
from whygrad.rules.ranks.judge_ranks import judged as asked
from whygrad.rules.ranks.ranks_diverge import phrase

STEP, LOSS = Site("train.py", 9, "train", "opt.step()"), Site("train.py", 8, "train", "loss.backward()")
INNER = Site("train.py", 7, "train", "loss = f(model.module(x))")


def traces(weights, gradients, numbers=(1, 2, 3, 4), **more):
    rows = zip(numbers, weights, gradients, strict=True)
    return tuple(Trace("opt", 0, n, "net", w, g, STEP, LOSS, **more) for n, w, g in rows)


def judged(*ranks):
    return list(asked(dict(enumerate(ranks))))


SAME = traces((1, 2, 3, 4), (5, 6, 7, 8))


def test_ranks_that_stay_the_same_are_silent():
    assert judged(SAME, SAME, SAME) == []


def test_one_rank_alone_is_compared_with_nobody():
    assert judged(SAME) == []


@pytest.mark.parametrize("more", [{"around": INNER}, {"unsynced": INNER}])
def test_gradients_that_are_not_reduced(more):
    (cause,) = judged(
        traces((1, 2, 3, 4), (5, 6, 7, 8), **more), traces((1, 2.5, 3.5, 5), (9, 6, 7, 8), **more)
    )
    assert (cause.since, cause.site, cause.severity) == ("reduced", INNER, Severity.ERROR)
    assert "gradients are not reduced" in phrase(cause).title


def test_without_a_reason_it_is_a_warning_at_the_loss():
    (cause,) = judged(SAME, traces((1, 2.5, 3.5, 5), (9, 6, 7, 8)))
    assert (cause.site, cause.severity, cause.confidence) == (LOSS, Severity.WARNING, Confidence.LIKELY)


def test_weights_that_are_brought_together_later_are_averaged_on_purpose():
    assert judged(SAME, traces((1, 2.5, 3.5, 4), (9, 6, 7, 8))) == []


def test_too_little_was_seen_of_what_follows():
    assert judged(traces((1, 2), (5, 6), (1, 2)), traces((1, 3), (9, 6), (1, 2))) == []


def test_other_weights_from_the_beginning_with_the_same_gradients():
    (cause,) = judged(SAME, traces((2, 3, 4, 5), (5, 6, 7, 8)))
    assert (cause.since, cause.first_update) == ("start", 1)


def test_agents_that_each_train_alone_are_none_of_our_business():
    assert judged(SAME, traces((2, 3, 4, 5), (9, 1, 2, 3))) == []


def test_a_step_that_is_not_the_same():
    (cause,) = judged(SAME, traces((1, 2.5, 3.5, 5), (5, 6.5, 7.5, 8.5)))
    assert (cause.since, cause.site) == ("step", STEP)


def test_updates_that_not_all_have_recorded_are_not_compared():
    assert judged(SAME, traces((9,), (9,), (7,))) == []


def test_zeros_are_the_same():
    assert judged(traces((0, 0), (0, 0), (1, 2)), traces((0, 0), (0, 0), (1, 2))) == []
