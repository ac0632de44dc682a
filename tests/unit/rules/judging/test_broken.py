"""The errors that the framework raises itself, and what stands behind them."""

from whygrad.model import Block, Changed, Crash, Flow, Mark

TWICE = "RuntimeError: Trying to backward through the graph a second time"
IN_PLACE = "RuntimeError: one of the variables needed ... has been modified by an inplace operation"


def names(cause):
    return [p.name for p in cause.subjects]


def test_backward_twice_names_what_kept_the_old_graph(run, only):
    # GIVEN a hidden state that is carried over from an update that has been differentiated
    rnn = run.network("rnn")
    run.optimizer("optimizer", rnn)
    hidden = run.call(rnn, line=5, walked=1)
    loss = run.op("mean", run.call(rnn, hidden, line=6), line=7)
    run.failed(loss, error=TWICE, line=8)
    # THEN it is the hidden state's line
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("backward-twice", 5)
    assert names(cause) == ["rnn.weight", "rnn.bias"]
    assert cause.backward.line == 8
    assert [step.mark for step in cause.chain] == [Mark.HERE, Mark.NONE, Mark.BROKEN]


def test_the_same_loss_twice_is_the_second_call(run, only):
    net = run.network("net")
    run.optimizer("optimizer", net)
    loss = run.op("mean", run.call(net, line=5), line=6, walked=1)
    run.failed(loss, error=TWICE, line=9)
    assert (only(run).rule, only(run).site.line, only(run).again) == ("backward-twice", 9, True)


def test_in_place_names_the_writer(run, only):
    # GIVEN a step between a forward pass and its backward
    actor, critic = run.network("actor"), run.network("critic")
    run.optimizer("actor_opt", actor)
    q = run.call(critic, run.call(actor, line=5), line=6)
    loss = run.op("mean", q, line=7)
    step = Changed(q, "critic.weight", "critic_opt.step()", run.site(10))
    run.failed(loss, error=IN_PLACE, line=11, changed=(step,))
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("in-place-modified", 10)
    assert (cause.writer, cause.by_step) == ("critic_opt.step()", True)
    assert (cause.forward.line, cause.backward.line) == (6, 11)
    assert [(s.site.line, s.mark) for s in cause.chain] == [(6, ""), (10, Mark.HERE), (11, Mark.BROKEN)]
    assert names(cause) == ["actor.weight", "actor.bias"]


def test_a_retained_graph_beside_the_one_that_was_overwritten(run, only):
    # GIVEN a value that an earlier backward has walked, in a loss whose other half a step has overwritten
    policy, value = run.network("policy"), run.network("value")
    run.optimizer("policy_opt", policy)
    log_prob = run.call(policy, line=5)
    delta = run.call(value, line=7, walked=1)
    loss = run.op("mul", log_prob, delta, line=9)
    step = Changed(log_prob, "policy.weight", "policy_opt.step()", run.site(10))
    run.failed(loss, error=IN_PLACE, line=9, changed=(step,))
    # THEN the step is the cause, and not what was kept
    assert (only(run).rule, only(run).site.line) == ("in-place-modified", 10)


def test_a_value_overwritten_by_hand(run, only):
    actor = run.network("actor")
    run.optimizer("optimizer", actor)
    out = run.op("sigmoid", run.call(actor, line=4), line=5)
    run.failed(
        run.op("mean", out, line=7),
        error=IN_PLACE,
        line=8,
        changed=(Changed(out, "sigmoid", "mul_", run.site(6)),),
    )
    assert (only(run).rule, only(run).site.line, only(run).by_step) == ("in-place-modified", 6, False)


def test_an_inference_tensor_that_a_network_should_learn_from(run, only):
    actor = run.network("actor")
    run.optimizer("optimizer", actor)
    state = run.op("exp", line=4, carries=False, block=Block("torch.inference_mode()", run.site(3)))
    inputs = (state, *actor.ops)
    error = "Inference tensors cannot be saved for backward"
    crash = Crash(error, "RuntimeError", run.site(6), "linear", inputs, Flow(dict(run.ops)))
    cause = only(run, crash)
    assert (cause.rule, cause.site.line) == ("no-grad-block", 3)
    assert names(cause) == ["actor.weight", "actor.bias"]


def test_an_error_that_has_nothing_to_do_with_gradients(run, judge):
    actor = run.network("actor")
    run.optimizer("optimizer", actor)
    assert judge(run, Crash("mat1 and mat2 shapes cannot be multiplied", "RuntimeError", run.site(6))) == []


WAITING = "RuntimeError: Expected to have finished reduction in the prior iteration"


def test_ddp_waits_for_a_term_that_was_left_out(run, judge):
    # GIVEN a value loss in the first update, and none when the ranks wait
    policy, value = run.network("policy"), run.network("value")
    optimizer = run.optimizer("optimizer", policy, value)
    terms = (
        run.op("mean", run.call(policy, line=5), line=6),
        run.op("mse_loss", run.call(value, line=7), line=8),
    )
    run.update(optimizer, run.backward(run.op("add", *terms, line=8), line=9))
    crash = Crash(WAITING, "RuntimeError", run.site(5), unused=value.keys)
    # THEN it is that term, and the call that waited is named
    (cause,) = (c for c in judge(run, crash) if c.rule == "unused-in-ddp")
    assert names(cause) == ["value.weight", "value.bias"]
    assert (cause.site.line, cause.sometimes, cause.stopped.line) == (8, True, 5)
    assert (cause.chain[1].mark, cause.chain[-1].mark) == (Mark.HERE, Mark.BROKEN)


def test_ddp_waits_for_what_never_had_a_part(run, judge):
    policy, value = run.network("policy"), run.network("value")
    run.update(run.optimizer("optimizer", policy), run.backward(run.op("mean", run.call(policy)), line=9))
    (cause,) = judge(run, Crash(WAITING, "RuntimeError", run.site(5), unused=value.keys))
    assert (cause.rule, cause.site.line, cause.sometimes) == ("unused-in-ddp", 5, False)
