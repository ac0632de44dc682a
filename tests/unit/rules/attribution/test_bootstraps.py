"""Bootstrap targets, target networks, advantages and shapes, on hand-made losses."""

from dataclasses import replace

import pytest

from whygrad.model import Alias


@pytest.fixture
def nets(run):
    return run.network("q", line=1), run.network("target", line=2)


def td_loss(run, q, ahead, done=None, detach=False):
    """``mse_loss(q(s), r + 0.9 * ahead)``."""
    if detach:
        ahead = run.op("detach", ahead, line=11, carries=False)
    discounted = run.op("mul", ahead, line=12, numbers=(0.9,))
    if done is not None:
        discounted = run.op("mul", discounted, done, line=12)
    target = run.op("add", run.data(line=12), discounted, line=12, shape=(8,))
    return run.op("mse_loss", run.call(q, line=13), target, line=14)


def train(run, q, make, times=6, line=3):
    optimizer = run.optimizer("opt", q, line=line)
    for _ in range(times):
        run.update(optimizer, run.backward(make(), line=20))


def found(judge, run):
    return [(c.rule, c.site.line, str(c.severity)) for c in judge(run)]


def test_the_online_network_is_differentiated_in_its_own_target(run, judge, nets):
    q, _ = nets
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10)))
    assert found(judge, run) == [("target-leak", 12, "error")]


def test_a_detached_target_is_right(run, judge, nets):
    q, _ = nets
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    assert found(judge, run) == []


def test_a_target_network_that_nobody_holds_only_collects(run, judge, nets):
    q, target = nets
    run.now(target, written=True)
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10)))
    assert found(judge, run) == [("target-leak", 12, "note")]


def test_a_number_as_reward(run, judge, nets):
    q, _ = nets

    def make():
        ahead = run.op("mul", run.call(q, line=10), line=12, numbers=(0.9,))
        delta = run.op("sub", run.op("add", ahead, line=12, numbers=(-1.5,)), run.call(q, line=13), line=13)
        return run.op("pow", delta, line=14, numbers=(2.0,))

    train(run, q, make)
    assert found(judge, run) == [("target-leak", 12, "error")]


def still(run, target):
    run.now(target, moved=False)


def test_a_target_that_never_moves(run, judge, nets, tmp_path):
    (tmp_path / "train.py").write_text("q = make()\ntarget = copy.deepcopy(q)\n" + "pass\n" * 30)
    run.file = str(tmp_path / "train.py")
    q, target = run.network("q", line=1), run.network("target", line=2)
    still(run, target)
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    assert found(judge, run) == [("target-never-synced", 2, "error")]


def test_a_sync_that_is_still_to_come(run, judge, tmp_path):
    source = "q = make()\ntarget = copy.deepcopy(q)\nfor step in range(9):\n    if step == 1000:\n        "
    (tmp_path / "train.py").write_text(source + "target.load_state_dict(q.state_dict())\n")
    run.file = str(tmp_path / "train.py")
    q, target = run.network("q", line=1), run.network("target", line=2)
    still(run, target)
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    assert found(judge, run) == []


def test_a_sync_into_the_online_network(run, judge, nets):
    q, target = nets
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    run.copy(target, q, line=30)
    assert found(judge, run) == [("target-reversed", 30, "error")]


@pytest.mark.parametrize(("factor", "reported"), [(0.995, True), (0.005, False), (1.0, False)])
def test_the_proportion_of_a_soft_update(run, judge, nets, factor, reported):
    q, target = nets
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    run.copy(q, target, line=30, factor=factor, own=1 - factor)
    assert found(judge, run) == [("target-reversed", 30, "error")] * reported


@pytest.mark.parametrize(("detach", "severity"), [(False, "error"), (True, "note")])
def test_a_target_in_the_optimizer(run, judge, nets, detach, severity):
    q, target = nets
    optimizer = run.optimizer("opt", q, target, line=5)
    for _ in range(3):
        loss = td_loss(run, q, run.call(target, line=10), detach=detach)
        run.update(optimizer, run.backward(loss, line=20))
    run.copy(q, target, line=30)
    assert ("target-in-optimizer", 5, severity) in found(judge, run)


def test_two_names_for_one_network(run, judge, tmp_path):
    source = "\n" * 2 + "target = q\n" + "\n" * 6 + "ahead = target(s2)\n" + "\n\nvalue = q(s)\n"
    (tmp_path / "train.py").write_text(source)
    run.file = str(tmp_path / "train.py")
    q = run.network("q", line=1)
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    run.aliases.append(Alias(("q", "target"), q.keys))
    assert found(judge, run) == [("target-alias", 3, "error")]


def test_a_mask_with_other_numbers_in_it(run, judge, nets):
    q, target = nets

    def make():
        return td_loss(run, q, run.call(target, line=10), run.op("rsub", run.data(), line=9, odd=True), True)

    train(run, q, make)
    assert found(judge, run) == [("terminal-mask", 12, "error")]


# -- policies -------------------------------------------------------------------------------------


def policy_loss(run, policy, critic, cut):
    score = run.op("log_softmax", run.call(policy, line=10), line=10)
    advantage = run.op("sub", run.data(), run.call(critic, line=11), line=12, shape=(8,))
    weight = run.op("detach", advantage, line=13, carries=False) if cut else advantage
    product = run.op("neg", run.op("mean", run.op("mul", score, weight, line=13), line=13), line=13)
    value = run.op("mean", run.op("pow", advantage, line=14, numbers=(2.0,)), line=14)
    return run.op("add", product, value, line=15)


@pytest.mark.parametrize("cut", [True, False])
def test_the_advantage_in_the_policy_loss(run, judge, cut):
    policy, critic = run.network("policy"), run.network("critic")
    optimizer = run.optimizer("opt", policy, critic)
    for _ in range(3):
        run.update(optimizer, run.backward(policy_loss(run, policy, critic, cut), line=20))
    causes = judge(run)
    assert [(c.rule, c.site.line) for c in causes] == [("advantage-not-detached", 12)] * (not cut)
    assert all(p.network == "critic" for c in causes for p in c.subjects)


@pytest.mark.parametrize("cut", [True, False])
def test_a_ratio_of_a_policy_with_itself(run, judge, cut):
    policy = run.network("policy")
    optimizer = run.optimizer("opt", policy)
    for _ in range(3):
        new = run.op("log_softmax", run.call(policy, line=10), line=10)
        old = run.op("detach", new, line=11, carries=False) if cut else new
        ratio = run.op("exp", run.op("sub", new, old, line=12), line=12)
        loss = run.op("neg", run.op("mean", run.op("mul", ratio, run.data(), line=13), line=13), line=13)
        run.update(optimizer, run.backward(loss, line=20))
    assert [(c.rule, c.site.line) for c in judge(run)] == [("cancelled-gradient", 12)] * (not cut)


@pytest.mark.parametrize(("minus", "maximize"), [(True, False), (False, False), (False, True)])
def test_the_sign_of_a_policy_gradient(run, judge, minus, maximize):
    policy = run.network("policy")
    optimizer = run.optimizer("opt", policy, maximize=maximize)
    for _ in range(2):
        score = run.op("log_softmax", run.call(policy, line=10), line=10)
        loss = run.op("mean", run.op("mul", score, run.data(), line=12), line=12)
        run.update(optimizer, run.backward(run.op("neg", loss, line=13) if minus else loss, line=20))
    wrong = not minus and not maximize
    assert [(c.rule, str(c.severity)) for c in judge(run)] == [("value-sign", "warning")] * wrong


# -- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "row", "reported"),
    [
        ((8, 1), (8,), True),
        ((8,), (8,), False),
        ((8, 1), (4,), False),
        ((8, 1), (1, 8), False),
        ((1, 1), (1,), False),
    ],
)
def test_a_column_against_a_row(run, judge, column, row, reported):
    q = run.network("q")
    optimizer = run.optimizer("opt", q)
    for _ in range(3):
        difference = run.op("sub", run.call(q, line=10, shape=column), run.data(shape=row), line=11)
        loss = run.op("mean", run.op("pow", difference, line=12, numbers=(2.0,)), line=12)
        run.update(optimizer, run.backward(loss, line=20))
    assert [(c.rule, c.site.line) for c in judge(run)] == [("broadcast-loss", 11)] * reported


def test_only_averaged_is_harmless(run, judge):
    q = run.network("q")
    optimizer = run.optimizer("opt", q)
    difference = run.op("sub", run.call(q, line=10, shape=(8, 1)), run.data(shape=(8,)), line=11)
    run.update(optimizer, run.backward(run.op("mean", difference, line=12), line=20))
    assert [str(c.severity) for c in judge(run)] == ["note"]


def test_an_extra_dimension_on_purpose(run, judge):
    q = run.network("q")
    optimizer = run.optimizer("opt", q)
    flat = run.call(q, line=10, shape=(8,))
    wide = run.op("getitem", flat, line=11, shape=(8, 1))
    difference = run.op("sub", wide, flat, line=11, shape=(8, 8))
    loss = run.op("mean", run.op("pow", difference, line=12, numbers=(2.0,)), line=12)
    run.update(optimizer, run.backward(loss, line=20))
    assert judge(run) == []


def test_objectives_are_kept_apart(run, judge):
    """One optimizer for the sum of both losses: the critic is also moved to please the actor."""
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("opt", actor, critic)
    for _ in range(2):
        regression = td_loss(run, critic, run.call(critic, line=10), detach=True)
        objective = run.op(
            "neg", run.op("mean", run.call(critic, run.call(actor, line=15), line=16), line=16)
        )
        run.update(optimizer, run.backward(run.op("add", regression, objective, line=17), line=18))
    assert [(c.rule, c.site.line) for c in judge(run)] == [("polluted-gradient", 18)]
    assert {p.network for c in judge(run) for p in c.subjects} == {"critic"}
    assert replace(judge(run)[0]).details["together"] == "yes"
