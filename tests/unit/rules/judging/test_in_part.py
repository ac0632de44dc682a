"""Updates that were recorded in part: a loss computed before recording began is there, its making is not."""

import pytest


@pytest.fixture
def agent(run):
    return run.network("actor", line=1), run.network("critic", line=2)


def value_loss(run, critic):
    """``mse_loss(q, r + 0.9 * v)``, the bootstrap value computed without gradient."""
    ahead = run.op("mul", run.call(critic, line=10, carries=False), line=11, numbers=(0.9,), carries=False)
    target = run.op("add", run.data(line=11), ahead, line=11, carries=False, shape=(8, 2))
    return run.op("mse_loss", run.call(critic, line=12), target, line=13)


def policy_loss(run, actor, critic, sign):
    value = run.op("mean", run.call(critic, run.call(actor, line=20), line=21), line=22)
    return run.op("neg", value, line=22) if sign < 0 else value


def train(run, agent, sign, times=3):
    actor, critic = agent
    steps = run.optimizer("critic_opt", critic), run.optimizer("actor_opt", actor)
    for _ in range(times):
        run.update(steps[0], run.backward(value_loss(run, critic), line=30))
        run.update(steps[1], run.backward(policy_loss(run, actor, critic, sign), line=31))
    return steps


def rules(judge, run):
    return {cause.rule for cause in judge(run)}


@pytest.mark.parametrize(("sign", "found"), [(-1, set()), (1, {"value-sign"})])
def test_the_sign_of_a_loss_that_was_not_seen_is_not_known(run, judge, agent, sign, found):
    actor, critic = agent
    _, actor_opt = train(run, agent, sign)
    unseen = run.op("unseen", *actor.ops, *critic.ops, line=31, shape=())
    run.update(actor_opt, run.backward(unseen, line=31))
    assert rules(judge, run) == found


def test_a_critic_that_was_only_seen_in_part(run, judge, agent):
    _, critic = agent
    critic_opt, _ = train(run, agent, -1)
    run.update(critic_opt, run.backward(run.op("unseen", *critic.ops, line=30, shape=()), line=30))
    assert rules(judge, run) == set()


def test_a_value_that_is_never_seen_hides_nothing_else(run, judge, agent):
    """Compiled code in every update: what is around it is still judged."""
    actor, critic = agent
    optimizer = run.optimizer("opt", actor, critic)
    for _ in range(3):
        unseen = run.op("unseen", *critic.ops, line=10)
        ahead = run.op("mul", run.call(critic, line=11), line=12, numbers=(0.9,))
        target = run.op("add", run.data(line=12), ahead, line=12)
        loss = run.op("mse_loss", run.op("add", unseen, run.call(actor, line=13), line=13), target, line=14)
        run.update(optimizer, run.backward(loss, line=30))
    assert rules(judge, run) == {"target-leak"}


def test_an_advantage_whose_making_was_not_seen(run, judge, agent):
    """``(log_prob * -advantage).mean()``: in one update the minus was written before recording began."""
    actor, _ = agent
    optimizer = run.optimizer("opt", actor)
    for seen in (True, True, False):
        score = run.op("log_softmax", run.call(actor, line=20), line=20)
        factor = run.data(line=21)
        if seen:
            factor = run.op("neg", factor, line=21)
        loss = run.op("mean", run.op("mul", score, factor, line=22), line=22)
        run.update(optimizer, run.backward(loss, line=31))
    assert rules(judge, run) == set()
