"""The numbers in front of a loss's terms."""

from __future__ import annotations

import pytest
from tests.unit.flow.build import operation

from whygrad.flow.scales import scaled
from whygrad.model import Flow, Site


def flow(*ops):
    return Flow({op.id: op for op in ops})


def op(number, name, *inputs, numbers=(), code="", shape=()):
    site = Site("train.py", number, "main", code)
    return operation(number, name, inputs, carries=True, site=site, numbers=numbers, shape=shape)


POLICY = (op(1, "linear", shape=(8, 2)), op(2, "mean", 1))


def test_each_term_has_its_own_number():
    made = flow(*POLICY, op(3, "mse_loss", 1), op(4, "mul", 3, numbers=(0.5,)), op(5, "add", 2, 4))
    assert sorted((t.factor, t.mean) for t in scaled(made, 5)) == [(0.5, True), (1.0, True)]


def test_a_division_of_the_whole_is_in_front_of_every_term():
    made = flow(
        *POLICY, op(3, "mse_loss", 1), op(4, "add", 2, 3), op(5, "div", 4, numbers=(4,), code="/ world")
    )
    assert {t.factor for t in scaled(made, 5)} == {0.25}
    assert {site.code for t in scaled(made, 5) for _, site in t.where} == {"/ world"}


@pytest.mark.parametrize("last", [op(2, "sum", 1), op(2, "mse_loss", 1, code='reduction="sum"')])
def test_a_sum_is_no_mean(last):
    assert [t.mean for t in scaled(flow(POLICY[0], last), 2)] == [False]


def test_nothing_is_said_where_a_factor_is_no_plain_number():
    weight = operation(3, "tensor")
    assert scaled(flow(*POLICY, weight, op(4, "mul", 2, 3)), 4) == []
