"""Clipping and clearing in the wrong place."""

from dataclasses import replace

import pytest

from whygrad.model import Clear, Mark


@pytest.fixture
def policy(run):
    return run.network("policy")


@pytest.fixture
def optimizer(run, policy):
    return run.optimizer("optimizer", policy)


def loss(run, policy):
    return run.op("mean", run.call(policy, line=8), line=9)


def train(run, optimizer, policy, times=3, **facts):
    for _ in range(times):
        run.update(optimizer, run.backward(loss(run, policy), line=10, **facts))


# -- clipping -------------------------------------------------------------------------------------


def test_a_clip_between_backward_and_step_is_right(run, judge, policy, optimizer):
    train(run, optimizer, policy)
    run.clip(policy, line=11, awaited=True)
    assert judge(run) == []


def test_a_clip_that_finds_no_new_gradient_and_the_loss_is_ready(run, only, policy, optimizer):
    train(run, optimizer, policy)
    run.clip(policy, line=9, fresh=False, awaited=True, ready=True)
    assert (only(run).rule, only(run).site.line) == ("clip-before-backward", 9)


def test_a_clip_behind_the_step(run, only, policy, optimizer):
    train(run, optimizer, policy)
    run.clip(policy, line=12, fresh=False, awaited=True)
    assert (only(run).rule, only(run).site.line) == ("clip-after-step", 12)
    assert [step.mark for step in only(run).chain] == ["", "", "here"]


def test_one_good_call_acquits_the_line(run, judge, policy, optimizer):
    train(run, optimizer, policy)
    run.clip(policy, line=12, fresh=False, awaited=True)
    run.clip(policy, line=12)
    assert judge(run) == []


def test_clipping_at_infinity_only_measures(run, judge, policy, optimizer):
    train(run, optimizer, policy)
    run.clip(policy, line=12, fresh=False, awaited=True, threshold=float("inf"))
    assert judge(run) == []


@pytest.mark.parametrize(
    ("threshold", "before", "found"), [(1e-6, 3.0, True), (0.5, 900.0, False), (1e-6, 1e-7, False)]
)
def test_a_threshold_that_leaves_nothing(run, judge, policy, optimizer, threshold, before, found):
    train(run, optimizer, policy)
    run.clip(policy, line=11, threshold=threshold, before=before)
    assert [c.rule for c in judge(run)] == ["clip-to-nothing"] * found


def test_two_clips_that_both_act(run, only, policy, optimizer):
    train(run, optimizer, policy)
    for _ in range(2):
        run.clip(policy, line=11, before=2.0)
        run.clip(policy, line=12, kind="value", threshold=0.1, before=0.4)
    assert (only(run).rule, only(run).site.line, only(run).severity) == ("clip-to-nothing", 12, "warning")


def test_a_clipped_copy_that_nobody_uses(run, only, policy, optimizer):
    train(run, optimizer, policy)
    run.clip(policy, line=11, kind="dropped", threshold=None, before=None)
    assert (only(run).rule, only(run).site.line) == ("clip-unused", 11)


def test_a_clipped_copy_of_gradients_that_are_applied_to_another_network(run, judge, policy, optimizer):
    worker = run.network("worker")
    pairs = frozenset(zip(sorted(policy.keys), sorted(worker.keys), strict=True))
    for _ in range(3):
        run.update(optimizer, run.backward(run.op("mean", run.call(worker))), crossed=pairs)
    run.clip(worker, line=11, kind="dropped", threshold=None, before=None)
    assert ("clip-unused", 11) in [(c.rule, c.site.line) for c in judge(run)]


# -- clearing -------------------------------------------------------------------------------------


def pile_up(run, optimizer, policy):
    train(run, optimizer, policy, times=1)
    train(run, optimizer, policy, times=2, stale=policy.keys)


def test_gradients_pile_up(run, only, policy, optimizer):
    pile_up(run, optimizer, policy)
    cause = only(run)
    assert (cause.rule, cause.site.line, cause.first_update) == ("zero-grad-missing", 10, 2)
    assert cause.step == run.updates[-1].site
    assert [step.mark for step in cause.chain] == [Mark.NONE, Mark.NONE, Mark.HERE]  # no gradient is cut


def test_cleared_at_some_time_is_a_rhythm(run, judge, policy, optimizer):
    pile_up(run, optimizer, policy)
    run.clears.append(Clear(run.site(14), next(run.clock), policy.keys))
    assert judge(run) == []


def test_cleared_while_nobody_looked(run, judge, policy, optimizer):
    pile_up(run, optimizer, policy)
    run.optimizers[optimizer.key] = replace(run.optimizers[optimizer.key], clears=3)
    assert judge(run) == []


def test_accumulation_over_several_backwards(run, judge, policy, optimizer):
    for _ in range(3):
        run.update(optimizer, *(run.backward(loss(run, policy), line=10) for _ in range(4)))
    assert judge(run) == []


def test_cleared_between_backward_and_step(run, judge, policy, optimizer):
    for _ in range(3):
        backward = run.backward(loss(run, policy), line=10)
        run.update(optimizer, backward, lost=policy.keys, lost_at=run.site(11))
    (cause,) = (c for c in judge(run) if c.rule == "zero-grad-before-step")
    assert (cause.site.line, cause.backward.line) == (11, 10)
    assert [(step.site.line, step.mark) for step in cause.chain][:2] == [(10, Mark.NONE), (11, Mark.LOST)]


# -- one loss in the step of another --------------------------------------------------------------


@pytest.fixture
def critics(run):
    actor, critic = run.network("actor"), run.network("critic")
    return actor, critic, run.optimizer("actor_opt", actor), run.optimizer("critic_opt", critic)


def actor_loss(run, actor, critic):
    return run.op("mean", run.call(critic, run.call(actor, line=5), line=6), line=7)


def test_the_actor_loss_is_left_in_the_critic(run, judge, critics):
    actor, critic, actor_opt, critic_opt = critics
    for _ in range(2):
        leak = run.backward(actor_loss(run, actor, critic), line=8)
        run.update(actor_opt, leak)
        leak = replace(run.updates[-1].backwards[0], applied=actor.keys | critic.keys)
        own = run.backward(run.op("mse_loss", run.call(critic, line=12), line=12), line=13)
        run.update(critic_opt, leak, own)
    (cause,) = judge(run)
    assert (cause.rule, cause.site.line, cause.optimizer) == ("polluted-gradient", 8, "critic_opt")
    assert (cause.own.line, cause.together, cause.asked) == (13, False, False)
    assert cause.chain[0].mark is Mark.LEAK
    assert cause.chain[-1].what == "critic_opt.step() applies both"


def test_cleared_before_its_own_backward_is_right(run, judge, critics):
    actor, critic, actor_opt, critic_opt = critics
    for _ in range(2):
        run.update(actor_opt, run.backward(actor_loss(run, actor, critic), line=8))
        own = run.backward(run.op("mse_loss", run.call(critic, line=12), line=12), line=13)
        run.update(critic_opt, own)
    assert judge(run) == []


# -- accumulating ---------------------------------------------------------------------------------


def accumulate(run, policy, optimizer, cleared):
    """Two losses for each step; the gradients of the first one are cleared in between, or not."""
    for _ in range(3):
        first = run.backward(loss(run, policy), line=10)
        if cleared:
            run.clears.append(Clear(run.site(7), next(run.clock), policy.keys))
        run.update(optimizer, first, run.backward(loss(run, policy), line=10))
        if cleared:  # the step has used the last one only
            last = run.updates[-1]
            lost = replace(last.backwards[0], applied=frozenset())
            run.updates[-1] = replace(last, backwards=(lost, last.backwards[1]))


@pytest.mark.parametrize("cleared", [False, True])
def test_gradients_that_were_to_be_accumulated(run, judge, policy, optimizer, cleared):
    accumulate(run, policy, optimizer, cleared)
    found = [(c.rule, c.site.line, c.calls) for c in judge(run)]
    assert found == [("zero-grad-before-step", 7, 2)] * cleared


def test_gradients_that_are_cleared_and_put_together_by_hand(run, judge, policy, optimizer):
    accumulate(run, policy, optimizer, cleared=True)
    for at, update in enumerate(run.updates):
        first = replace(update.backwards[0], taken=policy.keys)
        run.updates[at] = replace(update, backwards=(first, update.backwards[1]))
    assert judge(run) == []


def test_a_step_that_differentiates_as_often_as_it_wants(run, judge, policy, optimizer):
    accumulate(run, policy, optimizer, cleared=True)
    run.optimizers[optimizer.key] = replace(run.optimizers[optimizer.key], searches=True)
    assert judge(run) == []
