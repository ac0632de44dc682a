"""Formulas that leave every gradient alive and are wrong: the wrong way round, subtracted, without a logarithm."""

from dataclasses import replace

import pytest

from whygrad.flow.situation import Situation
from whygrad.model import Crash, Site
from whygrad.rules.losses.judge_clipped import clipped_away
from whygrad.rules.losses.judge_silent_terms import silent_terms


@pytest.fixture
def policy(run):
    return run.network("policy", line=1)


def rules(judge, run):
    return {cause.rule for cause in judge(run)}


def ratio_loss(run, policy, swapped):
    """``-(exp(new - old) * advantage).mean()``."""
    new = run.op("log_softmax", run.call(policy, line=10), line=10)
    old = run.data(line=11)
    pair = (old, new) if swapped else (new, old)
    ratio = run.op("exp", run.op("sub", *pair, line=12), line=12)
    return run.op("neg", run.op("mean", run.op("mul", ratio, run.data(line=13), line=13), line=13), line=13)


@pytest.mark.parametrize(("swapped", "found"), [(False, []), (True, [12])])
def test_a_ratio_is_new_over_old(run, judge, policy, swapped, found):
    run.update(run.optimizer("opt", policy), run.backward(ratio_loss(run, policy, swapped)))
    assert [c.site.line for c in judge(run) if c.rule == "value-sign"] == found


def test_an_estimate_of_a_divergence_is_no_ratio_of_an_objective(run, judge, policy):
    """``exp(old - new) - (old - new)``, masked: its two parts go different ways."""
    new = run.op("log_softmax", run.call(policy, line=10), line=10)
    apart = run.op("sub", run.data(line=11), new, line=11, shape=(8, 2))
    both = run.op("sub", run.op("exp", apart, line=12), apart, line=12, shape=(8, 2))
    loss = run.op("mean", run.op("mul", both, run.data(line=13), line=13), line=13)
    run.update(run.optimizer("opt", policy), run.backward(loss))
    assert rules(judge, run) == set()


@pytest.mark.parametrize(("sign", "found"), [("add", set()), ("sub", {"value-sign"})])
def test_the_error_of_a_prediction_is_added(run, judge, policy, sign, found):
    value = run.network("value", line=2)
    error = run.op("mse_loss", run.call(value, line=20), run.data(line=20), line=20)
    loss = run.op(sign, ratio_loss(run, policy, swapped=False), error, line=21, shape=())
    run.update(run.optimizer("opt", policy, value), run.backward(loss))
    assert rules(judge, run) == found


def test_whoever_lets_another_network_err_may_mean_it(run, judge, policy):
    model = run.network("model", line=2)
    error = run.op("mse_loss", run.call(model, run.call(policy, line=9), line=20), run.data(line=20), line=20)
    run.update(run.optimizer("opt", policy), run.backward(run.op("neg", error, line=21)))
    assert "value-sign" not in rules(judge, run)


@pytest.mark.parametrize(("logarithm", "found"), [(True, set()), (False, {"surrogate-missing"})])
def test_a_probability_is_not_its_logarithm(run, judge, policy, logarithm, found):
    rows = run.op("softmax", run.call(policy, line=10), line=10)
    chosen = run.op("gather", rows, run.data(line=11, floating=False), line=11, shape=(8,))
    score = run.op("log", chosen, line=12, shape=(8,)) if logarithm else chosen
    product = run.op("mul", score, run.data(line=13, shape=(8,)), line=13, shape=(8,))
    run.update(
        run.optimizer("opt", policy), run.backward(run.op("neg", run.op("mean", product, line=13), line=13))
    )
    assert rules(judge, run) == found


def test_the_expectation_over_all_actions_needs_no_logarithm(run, judge, policy):
    rows = run.op("softmax", run.call(policy, line=10), line=10)
    product = run.op("mul", rows, run.data(line=13), line=13)
    run.update(
        run.optimizer("opt", policy), run.backward(run.op("neg", run.op("mean", product, line=13), line=13))
    )
    assert rules(judge, run) == set()


def regression(run, online, target, ones):
    ahead = run.op("mul", run.call(target, line=10, carries=False), line=11, numbers=(0.9,), carries=False)
    mask = run.data(line=11, ones=ones)
    kept = run.op("mul", ahead, mask, line=11, carries=False)
    goal = run.op("add", run.data(line=11), kept, line=11, carries=False, shape=(8, 2))
    return run.op("mse_loss", run.call(online, line=12), goal, line=13)


@pytest.mark.parametrize(
    ("ones", "found"), [((93, 100), set()), ((7, 100), {"terminal-mask"}), ((1, 9), set())]
)
def test_a_mask_keeps_most_of_the_values(run, judge, ones, found):
    """Of nine samples nobody knows."""
    online, target = run.network("q"), run.network("target")
    run.copy(online, target)
    run.update(run.optimizer("opt", online), run.backward(regression(run, online, target, ones)))
    assert rules(judge, run) & {"terminal-mask"} == found


def test_a_target_with_the_memory_of_the_online_network(run, judge):
    online, target = run.network("q"), run.network("target")
    run.copy(online, target, line=70, how="shared")
    run.update(run.optimizer("opt", online), run.backward(regression(run, online, target, (93, 100))))
    found = [c for c in judge(run) if c.rule == "target-alias"]
    assert [c.site.line for c in found] == [70]


@pytest.mark.parametrize(("faded", "found"), [(0, set()), (31, {"stalled"}), (95, set())])
def test_a_rate_that_is_gone_for_most_of_the_training(run, judge, faded, found):
    """At its end it may be."""
    value = run.network("value")
    made = run.optimizer("opt", value)
    run.update(made, run.backward(run.op("mse_loss", run.call(value), run.data(), line=5)))
    run.optimizers[made.key] = replace(run.optimizers[made.key], steps=100, faded=faded)
    assert rules(judge, run) == found


@pytest.mark.parametrize(("own", "found"), [(True, set()), (False, {"clip-unused"})])
def test_a_clip_that_is_given_nothing(run, judge, own, found):
    value = run.network("value")
    made = run.optimizer("opt", value)
    for _ in range(4):
        backward = run.backward(run.op("mse_loss", run.call(value), run.data(), line=5))
        run.clip(*([value] if own else []), threshold=10.0)
        run.update(made, backward)
    assert rules(judge, run) & {"clip-unused"} == found


def test_weights_that_are_written_while_gradients_are_on(run, judge):
    value = run.network("value")
    run.update(
        run.optimizer("opt", value), run.backward(run.op("mse_loss", run.call(value), run.data(), line=5))
    )
    message = "a leaf Variable that requires grad is being used in an in-place operation."
    crash = Crash(message, "RuntimeError", Site("train.py", 9, "sync", "target.copy_(param)"), "copy_")
    assert "in-place-modified" in {c.rule for c in judge(run, crash)}


def test_a_huber_loss_by_hand_subtracts_no_error(run, judge):
    """``0.5 * min(e, 1) ** 2 + (e - min(e, 1))``."""
    value = run.network("value", line=2)
    error = run.op("abs", run.op("sub", run.call(value, line=20), run.data(line=20), line=20), line=20)
    bounded = run.op("clamp", error, line=21, numbers=(1.0,))
    square = run.op("mul", bounded, bounded, line=22)
    loss = run.op(
        "mean", run.op("add", square, run.op("sub", error, bounded, line=22), line=22, shape=(8, 2))
    )
    run.update(run.optimizer("opt", value), run.backward(loss))
    assert rules(judge, run) == set()


def two_ratios(run, policy, taken, negative):
    """``-min(ratio * a, clipped * a)``, or ``max(-ratio * a, -clipped * a)``."""
    new = run.op("log_softmax", run.call(policy, line=10), line=10)
    ratio = run.op("exp", run.op("sub", new, run.data(line=11), line=12), line=12)
    clipped = run.op("clamp", ratio, line=13, numbers=(0.8, 1.2))
    advantage = run.data(line=13)
    sides = [run.op("mul", one, advantage, line=14) for one in (ratio, clipped)]
    sides = [run.op("neg", one, line=14) for one in sides] if negative else sides
    loss = run.op("mean", run.op(taken, *sides, line=14), line=15)
    return loss if negative else run.op("neg", loss, line=15)


@pytest.mark.parametrize(
    ("taken", "negative", "found"),
    [("min", False, []), ("max", True, []), ("max", False, [14]), ("min", True, [14])],
)
def test_the_worse_of_ratio_and_clipped_ratio_counts(run, judge, policy, taken, negative, found):
    run.update(run.optimizer("opt", policy), run.backward(two_ratios(run, policy, taken, negative)))
    assert [c.site.line for c in judge(run) if c.rule == "value-sign"] == found


def test_a_ratio_whose_advantages_a_shuffled_index_picks(run, judge, policy):
    new = run.op("log_softmax", run.call(policy, line=10), line=10)
    ratio = run.op("exp", run.op("sub", run.data(line=11), new, line=12), line=12)
    index = run.data(line=13, floating=False, shape=(8,))
    advantage = run.op("getitem", run.data(line=13, shape=(64, 2)), index, line=13, shape=(8, 2))
    product = run.op("mul", ratio, advantage, line=13)
    run.update(
        run.optimizer("opt", policy), run.backward(run.op("neg", run.op("mean", product, line=13), line=13))
    )
    assert [c.site.line for c in judge(run) if c.rule == "value-sign"] == [12]


@pytest.mark.parametrize("alone", [False, True])
def test_a_clipped_ratio_alone_is_a_doubt(run, policy, alone):
    if alone:
        new = run.op("log_softmax", run.call(policy, line=10), line=10)
        ratio = run.op("exp", run.op("sub", new, run.data(line=11), line=12), line=12)
        clipped = run.op("clamp", ratio, line=13, numbers=(0.8, 1.2))
        product = run.op("mul", clipped, run.data(line=14), line=14)
        loss = run.op("neg", run.op("mean", product, line=15), line=15)
    else:
        loss = two_ratios(run, policy, "min", False)
    run.update(run.optimizer("opt", policy), run.backward(loss))
    assert [n.site.line for n in clipped_away(Situation(run.evidence()))] == ([13] if alone else [])


@pytest.mark.parametrize("beside", [False, True])
def test_an_error_that_is_clipped_before_it_is_squared_is_a_doubt(run, beside):
    """Not beside the error itself, as in the value loss of PPO: there the larger of two is taken."""
    value = run.network("value")
    error = run.op("sub", run.call(value, line=5), run.data(line=5), line=5)
    square = run.op("pow", run.op("clamp", error, line=6, numbers=(-1.0, 1.0)), line=7, numbers=(2.0,))
    other = run.op("pow", error, line=7, numbers=(2.0,))
    loss = run.op("mean", run.op("max", square, other, line=7) if beside else square, line=8)
    run.update(run.optimizer("opt", value), run.backward(loss))
    assert [n.site.line for n in clipped_away(Situation(run.evidence()))] == ([] if beside else [6])


@pytest.mark.parametrize(("norm", "found"), [(0.0, [13]), (0.5, [])])
def test_a_term_that_never_gave_anything_is_a_doubt(run, policy, norm, found):
    entropy = run.op("mean", run.op("square", run.call(policy, line=20), line=20), line=20)
    for _ in range(2):
        policy_loss = ratio_loss(run, policy, swapped=False)
        backward = run.backward(run.op("add", policy_loss, entropy, line=21))
        mean = backward.flow[policy_loss].inputs[0]
        keys = tuple(policy.keys)
        shares = {mean: dict.fromkeys(keys, norm), policy_loss: dict.fromkeys(keys, norm)}
        run.update(run.optimizer("opt", policy), replace(backward, shares=shares))
    assert [n.site.line for n in silent_terms(Situation(run.evidence()))] == found


@pytest.mark.parametrize(("ends", "found"), [(1, []), (18, ["terminal-mask"])])
def test_a_mask_of_plain_numbers_in_a_return_that_is_carried(run, judge, ends, found):
    critic = run.network("critic")
    for _ in range(6):
        carried = run.call(critic, line=10, carries=False)
        for step in range(20):
            ahead = run.op("mul", carried, line=11, numbers=(0.9,), carries=False)
            kept = run.op("mul", ahead, line=11, numbers=(float(step >= ends),), carries=False)
            carried = run.op("add", kept, line=11, numbers=(1.0,), carries=False, shape=(8, 2))
        loss = run.op("mse_loss", run.call(critic, line=12), carried, line=13)
        run.update(run.optimizer("opt", critic), run.backward(loss))
    assert [c.rule for c in judge(run) if c.rule == "terminal-mask"] == found
