"""Bootstrap targets, target networks, advantages and shapes, on hand-made losses."""

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.situation import Situation
from whygrad.model import Alias, Flag, Mark
from whygrad.rules.losses.surrogate_missing import Made
from whygrad.rules.targets.judge_bounded import bounded_values
from whygrad.rules.targets.judge_syncs import left_behind, unplaced_copies, unreached_syncs


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


def marks(judge, run):
    """The marked steps of the only cause: line and mark."""
    (cause,) = judge(run)
    return [(step.site.line, step.mark) for step in cause.chain if step.mark]


def test_the_online_network_is_differentiated_in_its_own_target(run, judge, nets):
    q, _ = nets
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10)))
    assert found(judge, run) == [("target-leak", 12, "warning")]  # it may be a residual gradient
    assert marks(judge, run) == [(12, Mark.LEAK)]
    assert not judge(run)[0].harmless and not judge(run)[0].prediction_cut


def test_a_detached_target_is_right(run, judge, nets):
    q, _ = nets
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    assert found(judge, run) == []


def test_a_target_network_that_nobody_holds_only_collects(run, judge, nets):
    q, target = nets
    run.now(target, written=True)
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10)))
    assert found(judge, run) == [("target-leak", 12, "note")]
    assert judge(run)[0].harmless and not judge(run)[0].asked


def test_a_number_as_reward(run, judge, nets):
    q, _ = nets

    def make():
        ahead = run.op("mul", run.call(q, line=10), line=12, numbers=(0.9,))
        delta = run.op("sub", run.op("add", ahead, line=12, numbers=(-1.5,)), run.call(q, line=13), line=13)
        return run.op("pow", delta, line=14, numbers=(2.0,))

    train(run, q, make)
    assert found(judge, run) == [("target-leak", 12, "warning")]


def squared(run, value):
    return run.op("mean", run.op("pow", value, line=14, numbers=(2.0,)), line=14)


def drawn(run, mean, deviation):
    """``mean + noise * deviation``, as ``Normal.rsample`` computes it."""
    noise = run.op("mul", run.op("normal", line=11), deviation, line=11)
    return run.op("add", mean, noise, line=11, shape=(8, 2))


@pytest.mark.parametrize("shifted", [False, True])
def test_a_sample_scored_by_its_own_distribution(run, judge, shifted):
    mean_net, raw_net = run.network("mean"), run.network("raw")

    def make():
        mean = run.call(mean_net, line=9)
        if shifted:
            mean = run.op("add", run.op("mul", mean, line=9, numbers=(0.9,)), line=9, numbers=(0.1,))
        soft = run.op("softplus", run.call(raw_net, line=10), line=10)
        deviation = run.op("add", soft, line=10, numbers=(0.001,))
        return squared(run, run.op("sub", drawn(run, mean, deviation), mean, line=12))

    train(run, mean_net, make)
    train(run, raw_net, make)
    assert found(judge, run) == []


@pytest.mark.parametrize("scale", [(), (0.7,)])
def test_a_sample_scored_by_another_distribution(run, judge, scale):
    one, raw, two = run.network("one"), run.network("raw"), run.network("two")

    def make():
        deviation = run.op("sigmoid", run.call(raw, line=10), line=10)
        if scale:
            deviation = run.op("mul", deviation, line=10, numbers=scale)
        deviation = run.op("add", deviation, line=10, numbers=(0.3,))
        sample = drawn(run, run.call(one, line=9), deviation)
        return squared(run, run.op("sub", sample, run.call(two, line=12), line=12))

    for network in (one, raw, two):
        train(run, network, make)
    assert found(judge, run) == []


def test_a_mean_of_the_same_values_is_no_prediction(run, judge, nets):
    q, _ = nets

    def make():
        value = run.call(q, line=10)
        mixed = run.op("add", run.data(line=11), run.op("mul", value, line=11, numbers=(0.1,)), line=11)
        return squared(run, run.op("sub", mixed, run.op("mean", value, line=12), line=12))

    train(run, q, make)
    assert found(judge, run) == []


@pytest.mark.parametrize("detach", [False, True])
def test_two_slices_of_one_forward_pass(run, judge, nets, detach):
    q, _ = nets

    def make():
        values = run.call(q, line=10)
        ahead = run.op("getitem", values, line=11, shape=(7,))
        if detach:
            ahead = run.op("detach", ahead, line=11, carries=False)
        ahead = run.op("mul", ahead, line=12, numbers=(0.9,))
        target = run.op("add", run.data(line=12), ahead, line=12, shape=(7,))
        return run.op("mse_loss", run.op("getitem", values, line=13, shape=(7,)), target, line=14)

    train(run, q, make)
    assert found(judge, run) == [("target-leak", 12, "warning")] * (not detach)


def still(run, target):
    run.now(target, moved=False)


def test_a_target_that_never_moves(run, judge, nets, tmp_path):
    (tmp_path / "train.py").write_text("q = make()\ntarget = copy.deepcopy(q)\n" + "pass\n" * 30)
    run.file = str(tmp_path / "train.py")
    q, target = run.network("q", line=1), run.network("target", line=2)
    still(run, target)
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    assert found(judge, run) == [("target-never-synced", 2, "error")]
    (cause,) = judge(run)
    assert (cause.online, cause.updates) == (("q",), 6)
    assert [step.what for step in cause.chain if step.mark] == ["nothing writes into it again"]


def test_a_sync_that_is_still_to_come(run, judge, tmp_path):
    source = "q = make()\ntarget = copy.deepcopy(q)\nfor step in range(9):\n    if step == 1000:\n        "
    (tmp_path / "train.py").write_text(source + "target.load_state_dict(q.state_dict())\n")
    run.file = str(tmp_path / "train.py")
    q, target = run.network("q", line=1), run.network("target", line=2)
    still(run, target)
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    assert found(judge, run) == []
    (note,) = unreached_syncs(Situation(run.evidence()))
    assert note.site.line == 5
    assert note.text == (
        "the sync at train.py:5 was not reached, or not seen, in 6 updates: target still has the first weights"
    )


def test_a_sync_into_the_online_network(run, judge, nets):
    q, target = nets
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    run.copy(target, q, line=30)
    assert found(judge, run) == [("target-reversed", 30, "error")]
    assert marks(judge, run) == [(30, Mark.HERE)]
    (cause,) = judge(run)
    assert (cause.online, cause.target, cause.taken) == ("q", "target", None)
    assert {p.network for p in cause.subjects} == {"q"}


@pytest.mark.parametrize(("factor", "reported"), [(0.995, True), (0.005, False), (1.0, False)])
def test_the_proportion_of_a_soft_update(run, judge, nets, factor, reported):
    q, target = nets
    train(run, q, lambda: td_loss(run, q, run.call(target, line=10), detach=True))
    run.copy(q, target, line=30, factor=factor, own=1 - factor)
    assert found(judge, run) == [("target-reversed", 30, "error")] * reported
    seen = [(c.online, c.target, c.taken) for c in judge(run)]
    assert seen == [("q", "target", factor)] * reported


@pytest.mark.parametrize(("detach", "severity"), [(False, "error"), (True, "note")])
def test_a_target_in_the_optimizer(run, judge, nets, detach, severity):
    q, target = nets
    optimizer = run.optimizer("opt", q, target, line=5)
    for _ in range(3):
        loss = td_loss(run, q, run.call(target, line=10), detach=detach)
        run.update(optimizer, run.backward(loss, line=20))
    run.copy(q, target, line=30)
    assert ("target-in-optimizer", 5, severity) in found(judge, run)
    (cause,) = (c for c in judge(run) if c.rule == "target-in-optimizer")
    assert (cause.harmless, cause.optimizer) == (detach, "opt")
    assert [step.mark for step in cause.chain] == [Mark.HERE]


def test_two_names_for_one_network(run, judge, tmp_path):
    source = "\n" * 2 + "target = q\n" + "\n" * 6 + "ahead = target(s2)\n" + "\n\nvalue = q(s)\n"
    (tmp_path / "train.py").write_text(source)
    run.file = str(tmp_path / "train.py")
    q = run.network("q", line=1)
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    run.aliases.append(Alias(("q", "target"), q.keys))
    assert found(judge, run) == [("target-alias", 3, "error")]
    assert (judge(run)[0].target, judge(run)[0].online) == ("target", "q")
    assert marks(judge, run) == [(3, Mark.HERE)]


@pytest.mark.parametrize("drawn", [False, True])
def test_a_mask_with_other_numbers_in_it(run, judge, nets, drawn):
    """Also where ``done`` was only drawn at random, for a try: ``1 - done`` is a mask and no noise."""
    q, target = nets

    def make():
        done = run.op("normal", line=8) if drawn else run.data()
        return td_loss(run, q, run.call(target, line=10), run.op("rsub", done, line=9, odd=True), True)

    train(run, q, make)
    assert found(judge, run) == [("terminal-mask", 12, "error")]
    assert marks(judge, run) == [(12, Mark.HERE)]
    assert judge(run)[0].mask.line == 9


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
    assert [(c.chain[0].mark, c.loss.line) for c in causes] == [(Mark.LEAK, 13)] * (not cut)
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
    assert [(c.ratio, c.chain[-1].mark) for c in judge(run)] == [(True, Mark.CANCELS)] * (not cut)


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
    assert [c.chain[-1].mark for c in judge(run)] == [Mark.HERE] * wrong


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
    assert [(c.column, c.row, c.wide) for c in judge(run)] == [((8, 1), (8,), (8, 8))] * reported
    assert [c.chain[-1].mark for c in judge(run)] == [Mark.WIDE] * reported


@pytest.mark.parametrize(
    ("used", "names"),
    [
        ("td = q - y", ("q", "y")),
        ("td = F.mse_loss(q, y)", ("q", "y")),
        ("td = q - y[0]", ("q", "row")),
        ("td = a.q - sy", ("column", "row")),
    ],
)
def test_column_and_row_are_called_by_their_names(run, judge, tmp_path, used, names):
    (tmp_path / "train.py").write_text(f"q = net(s)  # (N, 1)\ny = batch()\n{used}\n" + "pass\n" * 20)
    run.file = str(tmp_path / "train.py")
    q = run.network("net")
    optimizer = run.optimizer("opt", q)
    for _ in range(3):
        column, row = run.call(q, line=1, shape=(8, 1)), run.data(line=2, shape=(8,))
        loss = run.op("mean", run.op("mse_loss", column, row, line=3), line=4)
        run.update(optimizer, run.backward(loss, line=5))
    (cause,) = judge(run)
    assert cause.names == names
    assert [step.what for step in cause.chain[:2]] == ["q = net(s): (8, 1)", "y = batch(): (8,)"]


@pytest.fixture
def compared(run, judge):
    """``compared(prediction, target)``: what is said of a squared difference of values with these shapes."""

    def said(prediction, target, further=lambda square: square, of=None):
        q = run.network("q")
        optimizer = run.optimizer("opt", q)
        value = run.call(q, line=10, shape=prediction) if of is None else of(q)
        difference = run.op("sub", value, run.data(line=9, shape=target), line=11, shape=(8, 3))
        square = run.op("pow", difference, line=12, numbers=(2.0,), shape=(8, 3))
        run.update(optimizer, run.backward(run.op("mean", further(square), line=12), line=20))
        shapes = [c for c in judge(run) if c.rule == "broadcast-loss"]
        return [(c.rule, c.site.line, str(c.severity), c.column, c.row) for c in shapes]

    return said


@pytest.mark.parametrize(
    ("prediction", "target", "column", "row"),
    [
        ((8, 3), (8, 1), (8, 1), (8, 3)),  # all actions
        ((8, 1), (8, 3), (8, 1), (8, 3)),
        ((), (8,), (), (8,)),
        ((-1, 3), (-1, 1), (-1, 1), (-1, 3)),
    ],
)
def test_one_for_many(compared, prediction, target, column, row):
    assert compared(prediction, target) == [("broadcast-loss", 11, "warning", column, row)]


@pytest.mark.parametrize("target", [(8, 3), (1, 3), (3,), (), (-2,)])
def test_what_fits_is_compared(compared, target):
    assert compared((8, 3), target) == []


@pytest.mark.parametrize("prediction", [(8, 1, 1), (8, 1)])
def test_each_with_each_in_a_comparison(compared, prediction):
    assert [found[:3] for found in compared(prediction, (8,))] == [("broadcast-loss", 11, "error")]


@pytest.mark.parametrize(("before", "found"), [((8, 5, 1), 0), ((8, 5, 2), 1), ((9, 5), 1)])
def test_an_outcome_for_all_steps_of_a_sequence(run, compared, before, found):
    def steps(q):
        return run.op("__getitem__", run.call(q, line=9, shape=before), line=10, shape=(8, 5))

    assert len(compared((8, 5), (8, 1), of=steps)) == found


def test_critics_that_were_stacked_learn_from_one_target(run, compared):
    def stacked(q):
        return run.op(
            "stack", run.call(q, line=9, shape=(8,)), run.call(q, line=10, shape=(8,)), shape=(8, 2)
        )

    assert compared((8, 2), (8, 1), of=stacked) == []


def test_a_learned_number_for_the_whole_batch(run, compared):
    """A baseline that is a parameter, perhaps in another shape."""
    assert compared((), (8,), of=lambda q: run.op("squeeze", q.ops[0], shape=())) == []


@pytest.mark.parametrize(("shape", "meant"), [((8, 3), True), ((8, 1), False), ((), False)])
def test_what_a_mask_leaves_of_many(run, compared, shape, meant):
    """``one_hot`` has a number for each action; a weight has one for each row."""
    said = compared(
        (8, 3), (8, 1), further=lambda square: run.op("mul", square, run.data(shape=shape), shape=(8, 3))
    )
    assert (said == []) is meant


def test_quantiles_are_compared_with_each_target(run, judge):
    """``u = target - quantiles``, with the weight ``|tau - (u < 0)|``."""
    q = run.network("q")
    u = run.op("sub", run.data(shape=(8, 1)), run.call(q, line=10, shape=(8, 5)), line=11, shape=(8, 5))
    below = run.op("lt", run.op("detach", u, line=12, carries=False), line=12, floating=False, carries=False)
    weighed = run.op("mul", run.op("abs", u, line=12), run.op("float", below, line=12, shape=(8, 1)), line=12)
    run.update(run.optimizer("opt", q), run.backward(run.op("mean", weighed, line=13), line=20))
    assert judge(run) == []


def test_a_dimension_that_was_added_to_one_side_of_a_comparison(run, judge):
    """In the very line, and still nobody meant N x N."""
    q = run.network("q")
    target = run.op("unsqueeze", run.data(line=9, shape=(8,)), line=11, shape=(8, 1))
    loss = run.op("mse_loss", run.call(q, line=10, shape=(8,)), target, line=11)
    run.update(run.optimizer("opt", q), run.backward(loss, line=20))
    assert [(c.rule, c.site.line) for c in judge(run)] == [("broadcast-loss", 11)]


def test_only_averaged_is_harmless(run, judge):
    q = run.network("q")
    optimizer = run.optimizer("opt", q)
    difference = run.op("sub", run.call(q, line=10, shape=(8, 1)), run.data(shape=(8,)), line=11)
    run.update(optimizer, run.backward(run.op("mean", difference, line=12), line=20))
    assert [(str(c.severity), c.harmless) for c in judge(run)] == [("note", True)]


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
    assert judge(run)[0].together


@pytest.mark.parametrize("scored", [False, True])
def test_a_loss_of_drawn_actions(run, judge, scored):
    policy = run.network("policy")
    optimizer = run.optimizer("opt", policy)
    for _ in range(3):
        logits = run.call(policy, line=10)
        drawn = run.op(
            "multinomial", logits, line=11, carries=False, floating=False, api="Categorical.sample"
        )
        weight = run.op("log_softmax", logits, line=12) if scored else run.op("float", drawn, line=12)
        product = run.op("mul", weight, run.data(line=13), line=13)
        loss = run.op("neg", run.op("mean", product, line=14), line=14)
        run.update(optimizer, run.backward(loss, line=20))
    assert found(judge, run) == [("surrogate-missing", 14, "error")] * (not scored)
    if not scored:
        assert marks(judge, run) == [(11, Mark.CUT), (14, Mark.HERE)]
        assert judge(run)[0].made_of is Made.ACTIONS


def test_a_target_network_that_is_synced_and_not_asked(run, judge, nets):
    q, target = nets
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    run.copy(q, target, line=30)
    assert found(judge, run) == [("target-unused", 10, "warning")]
    assert judge(run)[0].target == "target"
    run.copy(q, target, line=30, factor=0.01, own=0.99)
    assert found(judge, run) == [("target-unused", 10, "error")]


@pytest.mark.parametrize("right", [False, True])
def test_double_learning_with_its_networks_swapped(run, judge, nets, right):
    q, target = nets
    judges, chooses = (target, q) if right else (q, target)

    def loss():
        best = run.op("argmax", run.call(chooses, line=8), line=8, carries=False, floating=False)
        worth = run.op("detach", run.call(judges, line=10), line=10, carries=False)
        return td_loss(run, q, run.op("gather", worth, best, line=11, carries=False))

    train(run, q, loss)
    run.copy(q, target, line=30)
    assert [(c.rule, c.chooses) for c in judge(run)] == [("target-unused", True)] * (not right)


def test_a_network_that_is_synced_and_asked_in_some_loss(run, judge, nets):
    q, target = nets
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    run.copy(q, target, line=30)
    ahead = run.op("detach", run.call(target, line=10), carries=False)
    run.loose.append(run.backward(td_loss(run, q, ahead), line=21))
    assert [c.rule for c in judge(run) if c.rule == "target-unused"] == []


def test_ends_that_nobody_reads(tmp_path, judge):
    path = tmp_path / "train.py"
    path.write_text("s, r, d = batch\n" + "pass\n" * 80)
    run = Build(str(path))
    q = run.network("q", line=1)
    run.flags.append(Flag("d", run.site(20)))
    train(run, q, lambda: td_loss(run, q, run.call(q, line=10), detach=True))
    assert found(judge, run) == [("unmasked-bootstrap", 12, "warning")]
    assert judge(run)[0].flag == "d"


def test_a_value_with_a_mask_of_its_own(tmp_path, judge):
    path = tmp_path / "train.py"
    path.write_text("s, r, d = batch\n" + "pass\n" * 80)
    run = Build(str(path))
    q = run.network("q", line=1)
    run.flags.append(Flag("d", run.site(20)))
    masked = lambda: td_loss(run, q, run.call(q, line=10), done=run.data(line=9), detach=True)  # noqa: E731
    train(run, q, masked)
    assert found(judge, run) == []


def test_a_sync_whose_parts_do_not_add_up(run, judge, nets):
    q, target = nets
    ahead = lambda: run.op("detach", run.call(target, line=10), carries=False)  # noqa: E731
    train(run, q, lambda: td_loss(run, q, ahead()))
    run.copy(q, target, line=30, factor=0.01, own=0.01, times=6)
    assert found(judge, run) == [("target-reversed", 30, "error")]
    assert (judge(run)[0].taken, judge(run)[0].kept) == (0.01, 0.01)


def test_a_sync_with_nothing_of_the_online_network(tmp_path, judge):
    path = tmp_path / "train.py"
    path.write_text(
        "q = make()\ntarget = make()\n" + "pass\n" * 27 + "for t in both():\n    t.copy_(mixed)\n"
    )
    run = Build(str(path))
    q, target = run.network("q", line=1), run.network("target", line=2, moved=False)

    def make():
        return td_loss(run, q, run.op("detach", run.call(target, line=10), carries=False))

    train(run, q, make)
    run.copy(q, target, line=31, factor=0.0, own=1.0, times=6)
    assert found(judge, run) == [("target-never-synced", 2, "error")]


@pytest.mark.parametrize(
    ("moved", "in_loss", "doubts"), [(False, False, 1), (True, False, 0), (False, True, 0)]
)
def test_a_copy_that_is_seen_in_no_loss_and_never_changes(run, moved, in_loss, doubts):
    online, old = run.network("online"), run.network("old", moved=moved)
    opt = run.optimizer("opt", online)
    run.copy(online, old, line=3)
    for _ in range(6):
        value = run.call(online)
        if in_loss:  # a reference, as far as anybody can see
            value = run.op("sub", value, run.call(old, carries=False))
        run.update(opt, run.backward(run.op("mean", value)))
    assert len(list(unplaced_copies(Situation(run.evidence())))) == doubts


@pytest.mark.parametrize(("last", "doubts"), [("relu", 1), ("tanh", 1), ("neg", 0)])
def test_a_value_that_cannot_be_a_return_is_doubted(run, last, doubts):
    q, target = run.network("q"), run.network("target")

    def make():
        ahead = run.op("mul", run.call(target, carries=False, line=10), line=12, numbers=(0.9,))
        y = run.op("add", run.data(line=12), ahead, line=12, shape=(8,))
        return run.op("mse_loss", run.op(last, run.call(q, line=13), line=13), y, line=14)

    train(run, q, make, times=2)
    found = list(bounded_values(Situation(run.evidence())))
    assert [note.kind for note in found] == ["doubt"] * doubts


@pytest.mark.parametrize(("times", "updates", "error"), [(1, 6, True), (8, 6, False), (8, 120, True)])
def test_a_sync_of_each_episode_comes_again(tmp_path, judge, times, updates, error):
    """It ran at the end of each episode while memory filled; the first updates were made since the last one."""
    path = tmp_path / "train.py"
    path.write_text("q = make()\ntarget = make()\n" + "pass\n" * 30)
    run = Build(str(path))
    q, target = run.network("q", line=1), run.network("target", line=2, moved=False)
    run.copy(q, target, line=30, times=times)
    train(
        run, q, lambda: td_loss(run, q, run.op("detach", run.call(target, line=10), carries=False)), updates
    )
    assert [rule for rule, *_ in found(judge, run)] == ["target-never-synced"] * error
    assert len(list(unreached_syncs(Situation(run.evidence())))) == (not error)


@pytest.mark.parametrize("both", [True, False])
def test_one_of_two_targets_is_left_behind(run, both):
    online, other = run.network("q1"), run.network("q2")
    first, second = run.network("target1"), run.network("target2")
    run.copy(online, first, line=3)
    run.copy(other, second, line=3)
    opt = run.optimizer("opt", online, other)

    def make():
        lower = run.op("min", run.call(first, line=10), run.call(second, line=10), line=10)
        ahead = run.op("mul", run.op("detach", lower, carries=False), line=12, numbers=(0.9,))
        y = run.op("add", run.data(line=12), ahead, line=12, shape=(8, 2))
        return [run.op("mse_loss", run.call(net, line=13), y, line=14) for net in (online, other)]

    for _ in range(6):
        run.update(opt, run.backward(run.op("add", *make(), line=15)))
        run.copy(online, first, line=30, factor=0.1, own=0.9)
        if both:
            run.copy(other, second, line=30, factor=0.1, own=0.9)
    assert len(list(left_behind(Situation(run.evidence())))) == (not both)


@pytest.mark.parametrize(("sync", "error"), [("target = q", True), ("target = copy.deepcopy(q)", False)])
def test_a_sync_that_gives_the_name_away(tmp_path, judge, sync, error):
    """The first targets come from a network of its own, the later ones from the online network itself."""
    path = tmp_path / "train.py"
    text = ["q = make()", "target = make()", *["pass"] * 27, sync]
    text[9] = "ahead = target(s2)"
    path.write_text("\n".join(text))
    run = Build(str(path))
    q, target = run.network("q", line=1), run.network("target", line=2)

    def loss_by(net):
        return td_loss(run, q, run.op("detach", run.call(net, line=10), line=11, carries=False))

    optimizer = run.optimizer("opt", q, line=3)
    for net in (target, target, q, q):
        run.update(optimizer, run.backward(loss_by(net), line=20))
    assert [(rule, line) for rule, line, _ in found(judge, run)] == [("target-alias", 30)] * error


@pytest.mark.parametrize(
    ("mask", "ones", "error"),
    [("dones[t]", 7, True), ("(1 - dones[t])", 7, False), ("dones[t]", 120, False), ("dones[t]", 0, False)],
)
def test_ends_in_a_difference_of_plain_numbers(tmp_path, judge, mask, ones, error):
    path = tmp_path / "train.py"
    path.write_text(
        "dones = collect()\nfor t in steps:\n"
        f"    delta = rewards[t] + 0.9 * values[t + 1] * {mask} - values[t]\n" + "pass\n" * 30
    )
    run = Build(str(path))
    q = run.network("q", line=1)
    run.flags.append(Flag("dones", run.site(4), within=ones > 0, ones=(ones, 128)))
    train(run, q, lambda: run.op("mse_loss", run.call(q, line=13), run.data(line=13), line=14))
    assert [(rule, line) for rule, line, _ in found(judge, run)] == [("terminal-mask", 3)] * error
