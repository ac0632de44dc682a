"""Axes, probabilities, entropies, and targets that are the prediction itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.situation import Situation
from whygrad.model import Severity
from whygrad.rules.judging import causes


class Run(Build):
    """A policy of three actions, asked about eight states."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = self.network("policy")
        for number in self.policy.ops:
            self.ops[number] = replace(self.ops[number], shape=(3, 4))
        self.logits = self.call(self.policy, line=10, shape=(8, 3))

    def judged(self, loss: int) -> dict[str, int | None]:
        """The rules that speak, each with its line."""
        optimizer = self.optimizer("opt", self.policy)
        self.update(optimizer, self.backward(loss))
        found = causes(Situation(self.evidence()))
        return {c.rule: c.site.line if c.site else None for c in found if c.severity is not Severity.NOTE}

    def weighed(self, log_prob: int, line: int = 20) -> int:
        """``-(log_prob * returns).mean()``."""
        product = self.op("mul", log_prob, self.data(line, shape=(8,)), line=line, shape=(8,))
        return self.op("neg", self.op("mean", product, line=line), line=line)

    def chosen(self, values: int, line: int = 12) -> int:
        """The element of each row that an action stands for."""
        action = self.data(line, floating=False, shape=(8, 1))
        return self.op("squeeze", self.op("gather", values, action, line=line, shape=(8, 1)), shape=(8,))


@pytest.mark.parametrize(("axis", "found"), [(0, {"wrong-axis": 11}), (1, {})])
def test_a_softmax_over_the_rows(axis, found):
    run = Run()
    log_probs = run.op("log_softmax", run.logits, line=11, shape=(8, 3), axes=(axis,))
    assert run.judged(run.weighed(run.chosen(log_probs))) == found


def test_attention_is_a_softmax_over_rows_on_purpose():
    run = Run()
    weights = run.op("softmax", run.logits, line=11, shape=(8, 3), axes=(0,))
    pooled = run.op("sum", run.op("mul", weights, run.logits, shape=(8, 3)), shape=(3,), axes=(0,), line=12)
    assert "wrong-axis" not in run.judged(run.op("mean", run.op("pow", pooled, shape=(3,)), line=13))


@pytest.mark.parametrize(("axes", "shape", "found"), [((0, 1), (), True), ((1,), (8,), False)])
def test_one_best_value_for_all_rows(axes, shape, found):
    run = Run()
    following = run.call(run.policy, line=14, shape=(8, 3), carries=False)
    best = run.op("max", following, line=15, shape=shape, axes=axes)
    target = run.op("add", run.data(16, shape=(8,)), best, line=16, shape=(8,))
    loss = run.op("mse_loss", run.chosen(run.logits), target, line=17)
    assert ("wrong-axis" in run.judged(loss)) is found


@pytest.mark.parametrize("kind", ["cross_entropy", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("twice", [True, False])
def test_probabilities_where_logits_belong(kind, twice):
    run = Run()
    given = run.op("softmax", run.logits, line=11, shape=(8, 3), axes=(1,)) if twice else run.logits
    score = run.op(kind, given, line=12, shape=(8,))
    assert run.judged(run.weighed(score)).get("double-softmax") == (12 if twice else None)


def test_soft_labels_are_probabilities():
    run = Run()
    teacher = run.network("teacher", trainable=False)
    labels = run.op("softmax", run.call(teacher, line=9, shape=(8, 3)), line=9, shape=(8, 3))
    assert "double-softmax" not in run.judged(run.op("cross_entropy", run.logits, labels, line=12, shape=()))


def test_raw_outputs_where_logarithms_belong():
    run = Run()
    loss = run.op("nll_loss", run.logits, run.data(floating=False, shape=(8,)), line=12, shape=())
    assert run.judged(loss) == {"double-softmax": 12}


@pytest.mark.parametrize(("joined", "found"), [("add", True), ("sub", False)])
def test_an_entropy_that_is_added_to_the_loss(joined, found):
    run = Run()
    log_probs = run.op("log_softmax", run.logits, line=11, shape=(8, 3), axes=(1,))
    probs = run.op("softmax", run.logits, line=11, shape=(8, 3), axes=(1,))
    entropy = run.op("neg", run.op("mul", probs, log_probs, line=13, shape=(8, 3)), line=13, shape=(8, 3))
    bonus = run.op("mul", run.op("mean", entropy, line=14), line=15, numbers=(0.01,), shape=())
    loss = run.op(joined, run.weighed(run.chosen(log_probs)), bonus, line=21)
    assert ("entropy-sign" in run.judged(loss)) is found


def test_an_entropy_with_a_negative_coefficient_is_taken_away():
    run = Run()
    log_probs = run.op("log_softmax", run.logits, line=11, shape=(8, 3), axes=(1,))
    probs = run.op("softmax", run.logits, line=11, shape=(8, 3), axes=(1,))
    entropy = run.op("neg", run.op("mul", probs, log_probs, line=13, shape=(8, 3)), line=13, shape=(8, 3))
    weight = run.op("neg", run.data(shape=()), line=14)
    bonus = run.op("mul", weight, run.op("mean", entropy, line=14), line=15, shape=())
    loss = run.op("add", run.weighed(run.chosen(log_probs)), bonus, line=21)
    assert "entropy-sign" not in run.judged(loss)


def test_a_target_that_is_the_prediction():
    run = Run()
    target = run.op("detach", run.logits, line=11, carries=False, shape=(8, 3))
    assert run.judged(run.op("mse_loss", run.logits, target, line=12)).get("self-target") == 11


@pytest.mark.parametrize("same", [True, False])
def test_a_target_that_was_computed_again(same):
    run = Run()
    state = run.data(9, shape=(8, 4))
    one = run.call(run.policy, state, line=10, shape=(8, 3))
    other = state if same else run.data(9, shape=(8, 4))
    again = run.call(run.policy, other, line=11, shape=(8, 3), **run.no_grad(11))
    assert ("self-target" in run.judged(run.op("mse_loss", one, again, line=12))) is same


@pytest.mark.parametrize(("axis", "found"), [(0, {"wrong-axis": 13}), (1, {})])
def test_a_softmax_over_rows_of_which_something_was_chosen(axis, found):
    """(batch, actions, atoms), the atoms of one action of each row, and then their probabilities."""
    run = Run()
    atoms = run.op("reshape", run.call(run.policy, line=10, shape=(8, 6)), line=10, shape=(8, 2, 3))
    one = run.op("gather", atoms, run.data(12, floating=False, shape=(8,)), line=12, shape=(8, 3))
    log_probs = run.op("log_softmax", one, line=13, shape=(8, 3), axes=(axis,))
    weighed = run.op("mul", log_probs, run.data(14, shape=(8, 3)), line=14, shape=(8, 3))
    assert run.judged(run.op("neg", run.op("mean", weighed, line=14), line=14)) == found


@pytest.mark.parametrize(("axis", "found"), [(1, {"wrong-axis": 11}), (2, {})])
def test_a_softmax_over_the_actions_of_which_an_index_takes_one(axis, found):
    """(batch, actions, atoms): ``p[range(n), action]``, and the logarithms of its atoms with weights."""
    run = Run()
    atoms = run.op("reshape", run.call(run.policy, line=10, shape=(8, 6)), line=10, shape=(8, 2, 3))
    probs = run.op("softmax", atoms, line=11, shape=(8, 2, 3), axes=(axis,))
    one = run.op("getitem", probs, run.data(12, floating=False, shape=(8,)), line=12, shape=(8, 3))
    weighed = run.op(
        "mul", run.data(14, shape=(8, 3)), run.op("log", one, line=14, shape=(8, 3)), shape=(8, 3)
    )
    summed = run.op("sum", weighed, line=14, shape=(8,), axes=(1,))
    assert run.judged(run.op("neg", run.op("mean", summed, line=14), line=14)) == found


class Critic(Build):
    """An actor's loss: an entropy, and what a critic says of an action."""

    def __init__(self) -> None:
        super().__init__()
        self.actor, self.critic = self.network("actor"), self.network("critic")
        self.critic_opt = self.optimizer("critic_opt", self.critic)

    def judged(self, action: int, **asked: object) -> dict[str, int | None]:
        entropy = self.op("mean", self.op("log", self.call(self.actor, line=10), line=11), line=11)
        value = self.op("mean", self.call(self.critic, action, line=12), line=13)
        loss = self.op("sub", entropy, value, line=14)
        told = self.backward(loss, **asked)
        self.update(self.optimizer("actor_opt", self.actor), told)
        regression = self.op("mse_loss", self.call(self.critic, line=20), self.data(20), line=21)
        self.update(self.critic_opt, self.backward(regression, line=51))
        found = causes(Situation(self.evidence()))
        return {c.rule: c.site.line if c.site else None for c in found if c.severity is not Severity.NOTE}


def test_a_critic_that_is_asked_about_a_stored_action_trains_no_actor():
    run = Critic()
    assert run.judged(run.data(9))["loss-independent"] == 12


def test_a_critic_that_is_asked_about_the_actors_own_action_does():
    run = Critic()
    assert "loss-independent" not in run.judged(run.call(run.actor, line=9))


def test_a_loss_of_both_is_asked_for_both():
    run = Critic()
    assert "loss-independent" not in run.judged(run.data(9), applied=run.critic.keys)
