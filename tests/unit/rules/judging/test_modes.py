"""Train and eval mode, frozen parts, and gradients that are handed over by hand."""

from dataclasses import replace

import pytest

from whygrad.flow.situation import Situation
from whygrad.model import Clear, Crash, Handover, Switch
from whygrad.rules.clearing.judge_handovers import unseen_origins
from whygrad.rules.judging import causes


def found(evidence):
    return [(c.rule, c.site.line if c.site else 0) for c in causes(Situation(evidence))]


# -- modes ----------------------------------------------------------------------------------------


def trained(run, training, acting=None, updates=3, **facts):
    """A network with dropout that is trained in this mode, and acts in that one."""
    net = run.network("net", **facts)
    opt = run.optimizer("opt", net)
    for _ in range(updates):
        acts = ()
        if acting is not None:
            acted = run.op("dropout", run.call(net, line=4), line=4, training=acting, carries=False)
            acts = (run.op("item", acted, line=4, left=True, carries=False),)
        hidden = run.op("dropout", run.call(net, line=8), line=8, training=training)
        run.update(opt, run.backward(run.op("mean", hidden), acts=acts))
    return net


@pytest.mark.parametrize(("training", "rules"), [(False, [("wrong-mode", 5)]), (True, [])])
def test_trained_in_eval_mode(run, training, rules):
    net = trained(run, training)
    off = Switch(run.site(5), 1, False, net.keys)
    assert found(replace(run.evidence(), switches=(off,))) == rules


def test_what_was_loaded_may_keep_its_statistics(run):
    net = trained(run, False, loaded=True)
    assert found(replace(run.evidence(), switches=(Switch(run.site(5), 1, False, net.keys),))) == []


def test_nothing_is_said_without_the_line_that_switched(run):
    trained(run, False)
    assert found(run.evidence()) == []


def test_where_each_call_says_its_mode_the_call_is_the_line(run):
    trained(run, False)
    assert found(replace(run.evidence(), framework="tensorflow")) == [("wrong-mode", 8)]


def test_a_loss_that_is_printed_does_not_act(run):
    """Its value leaves before the next backward, and another backward trains through it."""
    net = run.network("net")
    opt = run.optimizer("opt", net)
    for _ in range(3):
        loss = run.op("mean", run.op("dropout", run.call(net, line=8), line=8, training=True))
        printed = run.op("item", loss, line=9, left=True, carries=False)
        run.update(opt, run.backward(loss), run.backward(run.op("mean", run.call(net)), acts=(printed,)))
    assert found(run.evidence()) == []


@pytest.mark.parametrize(("acting", "rules"), [(True, [("wrong-mode", 4)]), (False, []), (None, [])])
def test_acts_in_train_mode(run, acting, rules):
    trained(run, True, acting)
    assert found(run.evidence()) == rules


def test_a_single_state_in_train_mode(run):
    net = trained(run, True)
    state = run.call(net)
    crash = Crash(
        "Expected more than 1 value per channel when training, got input size [1, 8]",
        "ValueError",
        run.site(12, "forward"),
        "batch_norm",
        (state, *net.ops),
        run.backward(state).flow,
        callers=(run.site(20, "act"),),
    )
    assert ("wrong-mode", 20) in found(run.evidence(crash))


# -- frozen parts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "rules"), [({}, [("frozen", 6)]), ({"loaded": True}, []), ({"trained": True}, [])]
)
def test_a_frozen_layer_at_its_start(run, facts, rules):
    first = run.network("net", layers=("first",), trainable=False, frozen_at=run.site(6), **facts)
    rest = run.network("net", layers=("rest",))
    opt = run.optimizer("opt", rest)
    for _ in range(3):
        run.update(opt, run.backward(run.op("mean", run.call(rest, run.call(first)))))
    assert found(run.evidence()) == rules


def test_a_moving_average_was_never_meant_to_learn(run):
    # GIVEN what a layer makes without gradients, on a line of the user's that says nothing of it
    kept = run.network("net", layers=("mean",), line=6, trainable=False, frozen_at=run.site(6))
    rest = run.network("net", layers=("rest",))
    opt = run.optimizer("opt", rest)
    for _ in range(3):
        run.update(opt, run.backward(run.op("mean", run.call(rest, run.call(kept)))))
    assert found(run.evidence()) == []


def test_a_fixed_random_target_beside_its_predictor(run):
    fixed = run.network("rnd", layers=("target",), trainable=False, frozen_at=run.site(6))
    predictor = run.network("rnd", layers=("predictor",))
    opt = run.optimizer("opt", predictor)
    for _ in range(3):
        run.update(opt, run.backward(run.op("mse_loss", run.call(predictor), run.call(fixed))))
    assert found(run.evidence()) == []


# -- hand-overs -----------------------------------------------------------------------------------


def worker(run, stale=True, absent=False):
    local, shared = run.network("local", written=True), run.network("shared")
    opt = run.optimizer("opt", shared)
    for _ in range(3):
        run.copy(shared, local, line=5)
        loss = run.op("mean", run.call(local, line=7), line=7)
        run.update(opt, run.backward(loss, line=8, stale=local.keys if stale else frozenset()))
    evidence = run.evidence()
    gets = {} if not absent else evidence.always_absent
    return local, shared, replace(evidence, always_absent=gets)


def test_gradients_pile_up_in_the_worker(run):
    local, shared, evidence = worker(run)
    handover = Handover(run.site(9), local.keys, shared.keys, (1, 2))
    assert ("gradient-handover", 9) in found(replace(evidence, handovers=(handover,)))


def test_the_worker_is_cleared(run):
    local, shared, evidence = worker(run, stale=False)
    handover = Handover(run.site(9), local.keys, shared.keys, (1, 2))
    assert "gradient-handover" not in dict(found(replace(evidence, handovers=(handover,))))


def test_cleared_after_the_hand_over(run):
    local, shared, evidence = worker(run, stale=False, absent=True)
    last = evidence.updates[-1].time
    handover = Handover(run.site(9), local.keys, shared.keys, (last - 2,))
    clear = Clear(run.site(10), last - 1, shared.keys)
    assert found(replace(evidence, handovers=(handover,), clears=(clear,))) == [("gradient-handover", 10)]


@pytest.mark.parametrize(("times", "doubts"), [((), 1), ((1,), 1), ((1, 2, 3), 0)])
def test_gradients_of_which_no_loss_was_seen_are_a_doubt(run, times, doubts):
    """Unless they are handed over before each step."""
    local, shared, evidence = worker(run, stale=False)
    handover = Handover(run.site(9), local.keys, shared.keys, times)
    found = list(unseen_origins(Situation(replace(evidence, handovers=(handover,)))))
    assert [doubt.kind for doubt in found] == ["doubt"] * doubts


def test_an_optimizer_with_a_loss_of_its_own_leaves_no_doubt(run):
    net = run.network("net")
    opt = run.optimizer("opt", net)
    for _ in range(3):
        run.update(opt, run.backward(run.op("mean", run.call(net))))
    assert list(unseen_origins(Situation(run.evidence()))) == []
