"""Optimizers that are made again and again."""

import pytest


@pytest.fixture
def policy(run):
    return run.network("policy")


def train(run, network, made, steps=1, line=8, **facts):
    """Make so many optimizers on one line; each takes so many steps."""
    for _ in range(made):
        optimizer = run.optimizer("optimizer", network, line=line, **{"remembers": True, **facts})
        for _ in range(steps):
            loss = run.op("mean", run.call(network, line=9), line=9)
            run.update(optimizer, run.backward(loss, line=10))


def test_a_new_one_for_each_update(run, only, policy):
    train(run, policy, made=6)
    cause = only(run)
    assert (cause.rule, cause.site.line, cause.severity) == ("optimizer-recreated", 8, "warning")
    assert {p.name for p in cause.subjects} == {"policy.weight", "policy.bias"}
    assert (cause.kind, cause.updates) == ("Adam", 6)
    assert [step.mark for step in cause.chain] == ["here", "", ""]


@pytest.mark.parametrize(
    ("made", "steps", "found"), [(5, 2, True), (5, 3, False), (4, 1, False), (1, 6, False)]
)
def test_many_with_few_steps_each(run, judge, policy, made, steps, found):
    train(run, policy, made, steps)
    assert [c.rule for c in judge(run)] == ["optimizer-recreated"] * found


def test_plain_sgd_has_nothing_to_lose(run, judge, policy):
    train(run, policy, made=6, kind="SGD", remembers=False)
    assert judge(run) == []


def test_one_per_network_is_right(run, judge):
    for number in range(6):
        train(run, run.network(f"policy_{number}"), made=1)
    assert judge(run) == []


def test_a_few_short_ones_before_the_one_that_trains(run, judge, policy):
    train(run, policy, made=5)
    train(run, policy, made=1, steps=10, line=20)
    assert judge(run) == []


def test_weights_that_are_loaded_may_begin_a_new_task_each_time(run, judge, policy):
    train(run, policy, made=6)
    run.now(policy, loaded=True)
    assert judge(run) == []


def test_two_networks_that_one_line_makes_optimizers_for_are_one_cause(run, only, policy):
    critic = run.network("critic")
    train(run, policy, made=6)
    train(run, critic, made=6)
    assert {p.network for p in only(run).subjects} == {"policy", "critic"}
