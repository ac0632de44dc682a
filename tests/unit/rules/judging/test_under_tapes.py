"""Wrong gradients where a tape is asked: lists of variables, copies, clips, targets. No framework anywhere near."""

from dataclasses import replace

import pytest

from whygrad.diagnosis import picture
from whygrad.flow.situation import Situation
from whygrad.model import Alias, Block, Mark
from whygrad.rules.certificates import certificates
from whygrad.rules.judging import causes


@pytest.fixture
def tape(run):
    """``tape.gradient(loss, networks)``: asked for these and nothing else."""

    def ask(loss, *networks, line=20):
        wanted = frozenset().union(*(n.keys for n in networks))
        made = run.backward(loss, line=line)
        return replace(made, tape=True, wanted=wanted, reached=made.reached & wanted)

    return ask


@pytest.fixture
def found(judge, run):
    return lambda: [(c.rule, c.site.line, str(c.severity)) for c in judge(run)]


def dense(run, network, *inputs, line=1, **facts):
    """A Keras layer: the kernel is read, and the bias is added in an operation of its own."""
    kernel, bias = (run.op("read", op, line=line) for op in network.ops)
    product = run.op("mat_mul", *(inputs or (run.data(line),)), kernel, line=line, **facts)
    return run.op("add", product, bias, line=line, shape=(8, 1), **facts)


def td(run, q, ahead):
    """``square(r + 0.9 * ahead - q(s))``."""
    y = run.op("add", run.data(line=12), run.op("mul", ahead, line=12, numbers=(0.9,)), line=12, shape=(8, 1))
    return run.op("square", run.op("sub", y, dense(run, q, line=13), line=14), line=14)


def test_a_target_network_under_the_tape_is_fine_as_long_as_nobody_asks_for_it(run, found, tape):
    q, target = run.network("q"), run.network("target")
    optimizer = run.optimizer("opt", q)
    for _ in range(2):
        run.update(optimizer, tape(td(run, q, dense(run, target, line=10)), q))
    assert found() == []


def test_the_online_network_in_its_own_target(run, found, tape):
    q = run.network("q")
    run.update(run.optimizer("opt", q), tape(td(run, q, dense(run, q, line=10)), q))
    assert found() == [("target-leak", 12, "warning")]


def test_a_target_network_in_the_list_is_one_cause(run, found, tape):
    q, target = run.network("q"), run.network("target")
    run.copy(q, target)
    run.update(run.optimizer("opt", q, target), tape(td(run, q, dense(run, target, line=10)), q, target))
    assert found() == [("target-in-optimizer", 60, "error")]


def test_a_second_name_is_the_cause_of_the_leak(run, judge, tape, tmp_path):
    (tmp_path / "train.py").write_text("q = make()\ntarget = q\n" + "y = target(s)\nv = q(s)\n" * 10)
    run.file = str(tmp_path / "train.py")
    q = run.network("q")
    run.aliases.append(Alias(("q", "target"), q.keys))
    y = run.op("mul", dense(run, q, line=3), line=3, numbers=(0.9,))
    y = run.op("add", run.data(line=3), y, line=3, shape=(8, 1))
    loss = run.op("square", run.op("sub", y, dense(run, q, line=4), line=4), line=4)
    run.update(run.optimizer("opt", q), tape(loss, q, line=5))
    assert [(c.rule, c.site.line) for c in judge(run)] == [("target-alias", 2)]


def ddpg(run, tape, actor, critic, *also):
    """A critic step, and an actor step whose tape is asked for the actor ``also`` others."""
    critic_opt, actor_opt = run.optimizer("critic_opt", critic), run.optimizer("actor_opt", actor, *also)
    target = run.network("target")
    for _ in range(2):
        run.update(critic_opt, tape(td(run, critic, dense(run, target, line=10)), critic))
        value = dense(run, critic, dense(run, actor, line=30), line=31)
        loss = run.op("neg", run.op("mean", value, line=32), line=32)
        run.update(actor_opt, tape(loss, actor, *also, line=33))


def test_the_actor_loss_goes_through_the_critic_and_stops_there(run, found, tape):
    ddpg(run, tape, run.network("actor"), run.network("critic"))
    assert found() == []


def test_one_list_for_both_networks(run, found, judge, tape):
    actor, critic = run.network("actor"), run.network("critic")
    ddpg(run, tape, actor, critic, critic)
    assert found() == [("polluted-gradient", 33, "error")]
    (cause,) = judge(run)
    assert cause.asked and not cause.together
    assert [step.what for step in cause.chain][1:] == ["actor_opt.step() applies it"]


def test_the_bias_is_part_of_the_critic_when_signs_are_read(run, found, tape):
    actor, critic, target = run.network("actor"), run.network("critic"), run.network("target")
    run.update(run.optimizer("c", critic), tape(td(run, critic, dense(run, target, line=10)), critic))
    value = dense(run, critic, dense(run, actor, line=30), line=31)
    run.update(run.optimizer("a", actor), tape(run.op("mean", value, line=32), actor, line=33))
    assert found() == [("value-sign", 32, "warning")]


@pytest.mark.parametrize(("sign", "expected"), [("neg", []), ("mean", [("value-sign", 42, "warning")])])
def test_the_ratio_of_ppo_has_a_sign(run, found, tape, sign, expected):
    policy = run.network("policy")
    new = run.op("log_softmax", dense(run, policy, line=40), line=40)
    ratio = run.op("exp", run.op("sub", new, run.data(line=41), line=41), line=41)
    loss = run.op(sign, run.op("mean", run.op("mul", ratio, run.data(line=41), line=42), line=42), line=42)
    run.update(run.optimizer("opt", policy), tape(loss, policy, line=43))
    assert found() == expected


def test_the_deviation_between_a_sample_and_its_mean(run, found, tape):
    """tensorflow_probability: ``squared_difference(x / scale, loc / scale)``."""
    policy = run.network("policy")
    mean = dense(run, policy, line=40)
    sample = run.op("add", mean, run.data(line=41), line=41, api="Distribution.sample")
    sides = [run.op("div", v, line=42, api="Distribution.log_prob", numbers=(0.3,)) for v in (sample, mean)]
    score = run.op("squared_difference", *sides, line=42, api="Distribution.log_prob")
    score = run.op("mul", score, line=42, api="Distribution.log_prob", numbers=(-0.5,))
    loss = run.op("neg", run.op("mean", run.op("mul", score, run.data(line=43), line=43), line=43), line=43)
    run.update(run.optimizer("opt", policy), tape(loss, policy, line=44))
    assert found() == [("cancelled-gradient", 41, "error")]


def test_a_trunk_that_the_tape_is_not_asked_for(run, tape):
    trunk, head = run.network("trunk"), run.network("head")
    optimizer = run.optimizer("opt", head)
    for _ in range(2):
        value = dense(run, head, dense(run, trunk, line=30), line=31)
        asked = tape(run.op("mean", value, line=32), head, line=33)
        run.update(optimizer, replace(asked, reached=trunk.keys | head.keys))
    (cause,) = causes(Situation(replace(run.evidence(), framework="tensorflow")))
    assert (cause.rule, cause.site.line) == ("not-in-optimizer", 33)
    assert (cause.selective, cause.asked.line, cause.holds) == (True, 33, ("head",))
    assert cause.chain[-1].what == "is not among the variables that are asked for"
    assert cause.chain[-1].mark is Mark.HERE


def worker(run, tape, local, optimizer):
    value = run.op(
        "square", run.op("sub", dense(run, local, line=50), run.data(line=50, shape=(8, 1)), line=50), line=50
    )
    run.update(optimizer, tape(run.op("mean", value, line=51), local, line=52), line=53)


@pytest.mark.parametrize(("moved", "expected"), [(False, [("wrong-variables", 53, "error")]), (True, [])])
def test_a_worker_whose_steps_are_taken_back(run, found, tape, moved, expected):
    shared, local = run.network("shared"), run.network("local")
    run.now(shared, moved=moved)
    optimizer = run.optimizer("opt", local)
    for _ in range(3):
        worker(run, tape, local, optimizer)
    run.copy(shared, local, times=3, first=1)
    assert found() == expected


def test_weights_that_are_set_once_are_a_start(run, found, tape):
    shared, local = run.network("shared", moved=False), run.network("local")
    run.copy(shared, local)
    worker(run, tape, local, run.optimizer("opt", local))
    assert found() == []


def test_a_helper_that_is_right_elsewhere_is_called_the_wrong_way(run, judge, tape):
    q, target = run.network("q"), run.network("target")
    actor, actor_target = run.network("actor"), run.network("actor_target")
    for _ in range(2):
        run.update(run.optimizer("opt", q, actor), tape(td(run, q, dense(run, target, line=10)), q))
    run.copy(actor, actor_target, line=70, callers=(run.site(80, "update"),), factor=0.01, own=0.99)
    run.copy(target, q, line=70, callers=(run.site(81, "update"),), factor=0.01, own=0.99)
    causes = [c for c in judge(run) if c.rule == "target-reversed"]
    assert [c.site.line for c in causes] == [81]


def test_what_is_computed_before_the_tape_gets_a_certificate(run, tape):
    q, target = run.network("q"), run.network("target")
    before = {"carries": False, "block": Block("before", run.site(9), tape=True)}
    ahead = dense(run, target, line=10, **before)
    for number in list(run.ops):
        run.ops[number] = replace(run.ops[number], callers=())
    run.update(run.optimizer("opt", q), tape(td(run, q, ahead), q))
    (note,) = certificates(Situation(run.evidence()))
    assert note.text == (
        "computing it before the tape opens, at train.py:10, is right: the target must not be differentiated; "
        "q still learns from the loss at train.py:14"
    )


def test_roles_under_a_tape(run, tape):
    actor, critic = run.network("actor"), run.network("critic")
    ddpg(run, tape, actor, critic)
    evidence = replace(run.evidence(), framework="tensorflow")
    roles = {r.network: r.role for r in picture(Situation(evidence), healthy=True).roles}
    assert roles == {"actor": "actor", "critic": "critic", "target": "target"}


def test_a_prediction_of_the_target_network_as_an_array(run, judge, tape, tmp_path):
    """``r + 0.9 * tf.reduce_max(target.predict(s2), 1)``: numpy, and still the target network."""
    (tmp_path / "train.py").write_text("q = make()\ntarget = make()\n" + "pass\n" * 60)
    run.file = str(tmp_path / "train.py")
    q, target = run.network("q", line=1), run.network("target", line=2, moved=False)
    optimizer = run.optimizer("opt", q, line=3)
    for _ in range(5):
        array = run.op("predict", *target.ops, line=10, carries=False, left=True)
        back = run.op("constant", array, line=11, carries=False, fresh=True, via="memory")
        best = run.op("max", back, line=11, carries=False)
        run.update(optimizer, tape(td(run, q, best), q))
    assert [(c.rule, c.site.line) for c in judge(run)] == [("target-never-synced", 2)]


def test_a_sync_from_a_network_that_stands_still_is_a_sync(run, found, tape, tmp_path):
    (tmp_path / "train.py").write_text("q = make()\ntarget = make()\n" + "pass\n" * 90)
    run.file = str(tmp_path / "train.py")
    q, target = run.network("q", line=1), run.network("target", line=2, moved=False)
    optimizer = run.optimizer("opt", q, line=3)
    for _ in range(6):
        run.update(optimizer, tape(td(run, q, dense(run, target, line=10)), q))
    assert found() == [("target-never-synced", 2, "error")]
    run.copy(q, target)
    assert found() == []


def test_gradients_that_are_handed_to_the_target_by_mistake_are_told_once(run, judge, tape):
    q, target = run.network("q"), run.network("target")
    run.copy(q, target)
    pairs = frozenset(zip(sorted(target.keys), sorted(q.keys), strict=True))
    loss = td(run, q, dense(run, target, line=10, carries=False))
    run.update(run.optimizer("opt", target), tape(loss, q), crossed=pairs)
    assert "target-in-optimizer" not in {c.rule for c in judge(run)}
