"""Advantages of groups without spread: when they are a fault, and when they are life."""

import pytest

from whygrad.flow.situation import Situation
from whygrad.model import Severity
from whygrad.rules.certificates import certificates
from whygrad.rules.losses.empty_group import EmptyGroup


@pytest.fixture
def grpo(run):
    """Updates of a policy, each with so many groups without spread of so many."""
    policy = run.network("policy")
    optimizer = run.optimizer("opt", policy)

    def train(*counts, kl=True, late=0):
        for groups in counts:
            rewards = run.data(line=10)
            mean = run.op("mean", rewards, line=11, shape=(4, 1))
            centred = run.op("sub", rewards, mean, line=11, shape=(4, 6), groups=groups)
            scaled = run.op("div", centred, run.op("std", rewards, line=11), line=11)
            advantage = run.op("view", scaled, line=12)
            score = run.op("log_softmax", run.call(policy, line=13), line=13)
            term = run.op("neg", run.op("mul", score, advantage, line=14, shape=(24,)), line=14)
            loss = run.op("mean", term, line=15)
            if kl:
                loss = run.op("add", loss, run.op("mean", run.op("exp", score, line=16), line=16), line=17)
            run.update(optimizer, run.backward(loss))
        known = run.optimizers[optimizer.key]
        object.__setattr__(known, "steps", known.steps + late)

    return train


def found(judge, run):
    return [cause for cause in judge(run) if isinstance(cause, EmptyGroup)]


def test_all_groups_are_without_spread(run, grpo, judge):
    grpo(*[(4, 4)] * 3)
    (cause,) = found(judge, run)
    assert (cause.site.line, cause.multiplied.line, cause.severity) == (11, 14, Severity.ERROR)
    assert (cause.empty, cause.groups, cause.size, cause.masked) == (12, 12, 6, True)
    assert {p.network for p in cause.subjects} == {"policy"}


def test_nothing_else_moves_the_policy(run, grpo, judge):
    grpo(*[(4, 4)] * 3, kl=False)
    (cause,) = found(judge, run)
    assert not cause.masked


def test_most_groups_are_a_warning(run, grpo, judge):
    grpo(*[(17, 20)] * 3)
    (cause,) = found(judge, run)
    assert cause.severity is Severity.WARNING


@pytest.mark.parametrize(
    "counts",
    [
        [(2, 4)] * 8,  # some groups
        [(4, 4)] * 4 + [(1, 4)] * 4,  # no reward at first
        [(0, 4)] * 4 + [(4, 4)] * 4,  # solved
        [(4, 4)] * 2,  # two updates are nothing yet
        [(1, 1)] * 5,  # nor are five groups
        [(3, 4), (4, 4), (3, 4)],  # most of twelve are few
    ],
)
def test_a_healthy_script_is_left_in_peace(run, grpo, judge, counts):
    grpo(*counts)
    assert found(judge, run) == []


def test_what_was_seen_early_alone_is_not_said_of_a_long_run(run, grpo, judge):
    grpo(*[(4, 4)] * 6, late=100)
    assert found(judge, run) == []


def test_it_takes_the_place_of_a_gradient_of_zeros(run, grpo, judge):
    grpo(*[(4, 4)] * 3, kl=False)
    run.updates[:] = [
        type(u)(**{n: getattr(u, n) for n in u.__slots__} | {"zero": frozenset(run.parameters)})
        for u in run.updates
    ]
    assert [cause.rule for cause in judge(run)] == ["empty-group"]


@pytest.mark.parametrize(
    ("groups", "itself", "right"),
    [((0, 4), True, True), ((4, 4), True, False), ((0, 4), False, False)],
)
def test_a_loss_of_zero_by_construction_is_said_to_be_right(run, groups, itself, right):
    policy = run.network("policy")
    optimizer = run.optimizer("opt", policy)
    for _ in range(3):
        rewards = run.data(line=10)
        mean = run.op("mean", rewards, line=11, shape=(4, 1))
        advantage = run.op("sub", rewards, mean, line=11, shape=(4, 6), groups=groups)
        score = run.call(policy, line=13)  # out of a function that nobody looks into
        old = run.op("detach", score, line=13, carries=False) if itself else run.data(line=12)
        ratio = run.op("exp", run.op("sub", score, old, line=14), line=14)
        run.update(optimizer, run.backward(run.op("mean", run.op("mul", ratio, advantage, line=15), line=16)))
    said = [note.site.line for note in certificates(Situation(run.evidence())) if "a loss of 0" in note.text]
    assert said == [15] * right


def test_a_ratio_out_of_a_function_that_nobody_looks_into_is_paid_by_advantages(run, judge):
    policy = run.network("policy")
    optimizer = run.optimizer("opt", policy)
    for _ in range(3):
        rewards = run.data(line=10)
        mean = run.op("mean", rewards, line=11, shape=(4, 1))
        advantage = run.op("sub", rewards, mean, line=11, shape=(4, 6), groups=(4, 4))
        score = run.call(policy, line=13)
        ratio = run.op("exp", run.op("sub", score, run.data(line=12), line=14), line=14)
        run.update(optimizer, run.backward(run.op("mean", run.op("mul", ratio, advantage, line=15), line=16)))
    (cause,) = found(judge, run)
    assert cause.site.line == 11
