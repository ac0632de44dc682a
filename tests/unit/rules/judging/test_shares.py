"""What each rank has its share in: measured after ``backward``, and at the step."""

from __future__ import annotations

import pytest

from whygrad.model import Confidence, Severity, Site, Trace
from whygrad.rules.ranks.judge_ranks import judged
from whygrad.rules.ranks.scaled_by_ranks import phrase

STEP, LOSS = Site("train.py", 9, "train", "opt.step()"), Site("train.py", 7, "train", "loss.backward()")
SUM, DIVISION = (
    Site("train.py", 8, "train", "dist.all_reduce(p.grad)"),
    Site("train.py", 6, "train", "/ ranks"),
)


def traces(before, after, **more):
    known = {"mean": 1.0, "written": SUM, **more}
    return tuple(
        Trace("opt", 0, n, "net", n, n, STEP, LOSS, before=b, after=a, **known)
        for n, (b, a) in enumerate(zip(before, after, strict=True), 1)
    )


def said(*ranks):
    return list(judged(dict(enumerate(ranks))))


def two(part, **more):
    """Two ranks with gradients of 3 and 5, then 1 and 6, that step with this share of the sum."""
    after = (8 * part, 7 * part)
    return said(traces((3, 1), after, **more), traces((5, 6), after, **more))


def same(part, **more):
    """Their gradients are the same after ``backward``."""
    after = (6 * part, 2 * part)
    return said(*(traces((3, 1), after, wrapped=True, **more) for _ in range(2)))


def test_an_average_is_right():
    assert two(0.5) == same(0.5) == []


def test_a_sum_of_means_is_too_large():
    (cause,) = two(1.0)
    assert (cause.rule, cause.how, cause.site, cause.severity) == (
        "scaled-by-ranks",
        "summed",
        SUM,
        Severity.WARNING,
    )
    assert "2 times too large" in phrase(cause).title


@pytest.mark.parametrize(
    "more", [{"mean": 0.5}, {"mean": 0.0}, {"steady": True}, {"shared": DIVISION}, {"written": None}]
)
def test_a_sum_that_may_be_meant_is_silent(more):
    assert two(1.0, **more) == []


def test_a_sum_of_averages_is_certain():
    (cause,) = same(1.0)
    assert (cause.how, cause.severity, cause.confidence) == (
        "summed again",
        Severity.ERROR,
        Confidence.CERTAIN,
    )


def test_a_division_is_told_of_where_it_stands():
    (cause,) = same(0.25, divided=DIVISION)
    assert (cause.how, cause.site) == ("divided again", DIVISION)
    assert same(0.25) == []  # by something else that happens to be two


def test_a_loss_that_is_divided_by_the_number_of_ranks():
    (cause,) = same(0.5, shared=DIVISION, share=0.5)
    assert (cause.how, cause.site) == ("loss divided", DIVISION)
    assert same(0.5, shared=DIVISION, share=0.25) == []


def test_gradients_that_cancel_tell_nothing():
    assert said(traces((3, 1), (0.0, 0.0)), traces((-3, -1), (0.0, 0.0))) == []


def test_one_update_alone_tells_nothing():
    assert said(traces((3,), (8,)), traces((5,), (8,))) == []


def test_a_parameter_that_the_same_rank_leaves_out_every_time():
    some = {"unreached": ("net.v",)}
    (cause,) = said(traces((3, 1), (4, 3.5)), traces((5, 6), (4, 3.5), **some))
    assert (cause.rule, cause.without, cause.subjects[0].name) == ("unused-on-ranks", (1,), "net.v")
    assert said(traces((3, 1), (4, 3.5), **some), traces((5, 6), (4, 3.5), **some)) == []


def test_a_parameter_that_is_left_out_now_and_then():
    full, left = traces((3, 1), (4, 3.5)), traces((3, 1), (4, 3.5), unreached=("net.v",))
    assert said(full, (full[0], left[1])) == []
