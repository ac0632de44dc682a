"""The addends of a loss."""

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.terms import Term, loss_op, terms, written
from whygrad.model import Flow


@pytest.fixture
def run():
    return Build()


def names(run, root, **options):
    return sorted(term.op.name for term in terms(Flow(run.ops), root, **options))


def test_a_sum_of_two_losses_and_a_bonus(run):
    # GIVEN loss = policy + 0.5 * value - 0.01 * entropy
    actor = run.network("actor")
    policy = run.op("min", run.call(actor))
    value = run.op("mse_loss", run.call(actor))
    entropy = run.op("entropy", run.call(actor))
    loss = run.op("sub", run.op("add", policy, run.op("mul", value, run.data())), run.op("mul", entropy))
    # THEN there are three terms; factors and signs are not terms
    assert names(run, loss) == ["entropy", "min", "mse_loss"]


@pytest.mark.parametrize("join", ["stack", "cat", "vstack", "concat"])
@pytest.mark.parametrize("minus", ["sub", "subtract", "__isub__", "torch.rsub"])
def test_terms_are_the_same_however_they_are_written(run, join, minus):
    actor = run.network("actor")
    policy, value = run.op("min", run.call(actor)), run.op("mse_loss", run.call(actor))
    bonus = run.op("true_divide", run.op("entropy", run.call(actor)), numbers=(100.0,))
    loss = run.op("sum", run.op(join, policy, run.op(minus.removeprefix("torch."), value, bonus)))
    assert names(run, loss) == ["entropy", "min", "mse_loss"]


def test_terms_under_a_mean(run):
    actor = run.network("actor")
    inner = run.op("sub", run.op("log_prob", run.call(actor)), run.op("min", run.call(actor)), shape=(8,))
    loss = run.op("mean", inner)
    assert names(run, loss) == ["log_prob", "min"]
    assert not any(term.scalar for term in terms(Flow(run.ops), loss))
    assert names(run, loss, deep=False) == ["mean"]


def test_a_product_of_two_tensors_is_one_term(run):
    actor = run.network("actor")
    loss = run.op("mean", run.op("mul", run.op("log_prob", run.call(actor)), run.op("sub", run.data())))
    assert names(run, loss) == ["mul"]


def test_a_parameter_and_plain_data_are_terms_of_their_own(run):
    alone = run.network("log_alpha", ())
    assert names(run, run.op("add", alone.ops[0], run.data())) == ["data", "parameter"]


def test_the_loss_is_past_scaling_in_the_backward_line(run):
    # GIVEN loss = ... on line 4, and (loss / 2).backward() on line 6
    actor = run.network("actor")
    loss = run.op("mean", run.call(actor, line=3), line=4)
    half = run.op("div", loss, line=6)
    assert loss_op(Flow(run.ops), half, 6).site.line == 4
    assert loss_op(Flow(run.ops), half, 7).site.line == 6


def test_two_means_of_one_line_are_two_terms_and_those_of_a_loop_are_one(run):
    actor = run.network("actor")

    def mean(name):
        return run.op("mean", run.op(name, run.call(actor, line=4), line=5), line=6)

    policy, bonus, later = (Term(run.ops[mean(name)], True) for name in ("mul", "entropy", "mul"))
    flow = Flow(run.ops)
    assert written(flow, policy) != written(flow, bonus)
    assert written(flow, policy) == written(flow, later)


def test_sums_of_two_lists_are_told_apart_by_what_is_in_the_lists(run):
    actor = run.network("actor")

    def total(name, count):
        values = [run.op(name, run.call(actor, line=4), line=5) for _ in range(count)]
        return Term(run.ops[run.op("sum", run.op("stack", *values, line=6), line=6)], True)

    losses, entropies, longer = total("mul", 3), total("entropy", 3), total("mul", 4)
    flow = Flow(run.ops)
    assert written(flow, losses) != written(flow, entropies)
    assert written(flow, losses) == written(flow, longer)
