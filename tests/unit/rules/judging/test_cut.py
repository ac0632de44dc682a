"""A cut between a network and its loss: which rule, which line, who suffers."""

import pytest

from whygrad.model import Mark, Site


def names(cause):
    return [p.name for p in cause.subjects]


def actor_update(run, cut, times=3):
    """GIVEN an actor that learns through a critic, with something done to its action on line 10."""
    actor, critic = run.network("actor"), run.network("critic")
    actor_opt = run.optimizer("actor_opt", actor)
    critic_opt = run.optimizer("critic_opt", critic)
    for _ in range(times):
        run.update(critic_opt, run.backward(run.op("mse_loss", run.call(critic, line=8), line=8), line=9))
        action = cut(run, actor)
        loss = run.op("neg", run.op("mean", run.call(critic, action, line=12), line=13), line=13)
        run.update(actor_opt, run.backward(loss, line=14))
    return actor


def healthy(run, actor):
    return run.call(actor, line=10)


def detached(run, actor):
    return run.op("detach", run.call(actor, line=10), line=10, carries=False)


def data(run, actor):
    return run.op("data", run.call(actor, line=10), line=10, carries=False)


def under_no_grad(run, actor):
    return run.call(actor, line=10, **run.no_grad(9))


def through_numpy(run, actor):
    cut = run.op("cpu", run.op("detach", run.call(actor, line=10), line=10, carries=False), line=10)
    out = run.op("numpy", cut, line=10, carries=False, left=True)
    return run.op("tensor", out, line=11, fresh=True, via="memory")


def argmax(run, actor):
    return run.op("argmax", run.call(actor, line=9), line=10, carries=False, floating=False)


def sampled(run, actor):
    return run.op("normal", run.call(actor, line=9), line=10, carries=False, api="Normal.sample")


def cast(run, actor):
    return run.op("long", run.call(actor, line=10), line=10, carries=False, floating=False)


CUTS = [
    (detached, "detached", 10, {"op": ".detach()"}),
    (data, "detached", 10, {"op": ".data"}),
    (under_no_grad, "no-grad-block", 9, {"block": "torch.no_grad()", "inside": 10}),
    (through_numpy, "numpy-round-trip", 10, {"left": ".numpy()", "back": "torch.tensor", "back_at": 11}),
    (argmax, "nondifferentiable-op", 10, {"op": "argmax", "zero": False}),
    (sampled, "nondifferentiable-op", 10, {"op": "Normal.sample"}),
    (cast, "nondifferentiable-op", 10, {"op": ".long()"}),
]


def test_healthy_is_silent(run, judge):
    actor_update(run, healthy)
    assert judge(run) == []


@pytest.mark.parametrize(("cut", "rule", "line", "facts"), CUTS, ids=[c[0].__name__ for c in CUTS])
def test_every_cut_has_its_rule_and_its_line(run, only, cut, rule, line, facts):
    actor_update(run, cut)
    # WHEN it is judged
    cause = only(run)
    # THEN one cause, on the line that cuts, for all parameters of the actor and nobody else
    assert (cause.rule, cause.site.line) == (rule, line)
    assert names(cause) == ["actor.weight", "actor.bias"]
    found = {name: getattr(cause, name) for name in facts}
    assert {name: f.line if isinstance(f, Site) else f for name, f in found.items()} == facts
    assert cause.optimizer == "actor_opt" and not cause.masked
    assert cause.loss.line == 13


def test_the_chain_goes_from_the_parameter_over_the_cut_to_the_loss(run, only):
    actor_update(run, detached)
    chain = only(run).chain
    assert chain[0].what == "actor.weight"
    assert [step.what for step in chain if step.cut] == [".detach()"]
    assert chain[-1].site.line == 13


def test_it_is_counted_from_the_first_update_on(run, only):
    actor_update(run, detached, times=5)
    assert (only(run).first_update, only(run).updates) == (1, 5)


def test_a_flat_derivative_gives_zeros_not_absence(run, only):
    # GIVEN an actor whose action is rounded: autograd reaches it, with zeros
    actor, critic = run.network("actor"), run.network("critic")
    actor_opt = run.optimizer("actor_opt", actor)
    run.optimizer("critic_opt", critic, steps=3)
    for _ in range(3):
        action = run.op("round", run.call(actor, line=9), line=10)
        loss = run.op("mean", run.call(critic, action, line=12), line=13)
        run.update(actor_opt, run.backward(loss, line=14), zero=actor.keys)
    # THEN it is the operation, and the zeros are mentioned
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("nondifferentiable-op", 10)
    assert (cause.op, cause.zero) == ("round", True)
    assert [step.what for step in cause.chain if step.mark is Mark.FLAT] == ["round"]


@pytest.mark.parametrize("cut", [detached, argmax])
def test_a_critic_that_nobody_trains_is_not_a_second_finding(run, only, cut):
    # GIVEN an actor that should learn through a critic which was trained before
    actor, critic = run.network("actor"), run.network("critic")
    actor_opt = run.optimizer("actor_opt", actor)
    for _ in range(3):
        loss = run.op("mean", run.call(critic, cut(run, actor), line=12), line=13)
        run.update(actor_opt, run.backward(loss, line=14))
    assert only(run).site.line == 10


def test_a_scalar_that_is_only_logged_does_not_hide_the_cut(run, only):
    # GIVEN a detached action into the critic, and an entropy that is computed and not used
    actor, critic = run.network("actor"), run.network("critic")
    actor_opt = run.optimizer("actor_opt", actor)
    run.optimizer("critic_opt", critic, steps=3)
    for _ in range(3):
        out = run.call(actor, line=9)
        logged = run.op("mean", run.op("log", out, line=9), line=9)
        action = run.op("detach", out, line=10, carries=False)
        loss = run.op("mean", run.call(critic, action, line=12), line=13)
        run.update(actor_opt, run.backward(loss, line=14, unused=(logged,)))
    assert (only(run).rule, only(run).site.line) == ("detached", 10)


def test_a_loss_that_was_left_out_explains_more_than_the_cut(run, only):
    # GIVEN an advantage that is rightly detached, and a value loss that nobody differentiates
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("optimizer", actor, critic)
    for _ in range(3):
        value = run.call(critic, line=5)
        advantage = run.op("detach", run.op("sub", run.data(), value, line=6), line=6, carries=False)
        forgotten = run.op("mse_loss", value, run.data(), line=7)
        loss = run.op("mean", run.op("mul", run.op("log_prob", run.call(actor)), advantage, line=8), line=9)
        run.update(optimizer, run.backward(loss, line=10, unused=(forgotten,)))
    assert (only(run).rule, only(run).site.line) == ("loss-independent", 9)
    assert names(only(run)) == ["critic.weight", "critic.bias"]


def test_zeros_without_a_flat_operation_are_not_explained(run, only):
    # GIVEN dead units: zeros, and nothing on the way that is flat everywhere
    actor = run.network("actor")
    optimizer = run.optimizer("optimizer", actor)
    for _ in range(3):
        loss = run.op("mean", run.op("relu", run.call(actor)))
        run.update(optimizer, run.backward(loss), zero=actor.keys)
    assert only(run).rule == "unexplained"


# -- the value leaves the framework ---------------------------------------------------------------


def test_a_number_recognised_by_its_value(run, only):
    # GIVEN log_prob.item() that comes back as the factor of a product
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("optimizer", actor, critic)
    for _ in range(3):
        out = run.op(
            "item", run.op("log_prob", run.call(actor, line=9), line=9), line=10, carries=False, left=True
        )
        loss = run.op("mean", run.op("mul", run.call(critic, line=11), out, line=12), line=13)
        run.update(optimizer, run.backward(loss, line=14))
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("numpy-round-trip", 10)
    assert cause.left == ".item()"
    assert names(cause) == ["actor.weight", "actor.bias"]


SCRIPT = """\
policy = Policy()
optimizer = Adam(policy.parameters())
for episode in episodes:
    picked = []
    for state in episode:
        log_prob = policy(state)
        picked.append(log_prob.item())
    total = sum(picked) * 0.5
    loss = torch.tensor(total, requires_grad=True)
    loss.backward()
    optimizer.step()
"""


def test_a_number_recognised_by_the_source_text(run, judge, tmp_path):
    # GIVEN a loss of numbers that were summed up in Python: no value is seen coming back
    run.file = str(tmp_path / "train.py")
    (tmp_path / "train.py").write_text(SCRIPT)
    policy = run.network("policy")
    optimizer = run.optimizer("optimizer", policy)
    for _ in range(3):
        out = run.op("item", run.call(policy, line=6), line=7, carries=False, left=True)
        loss = run.op("tensor", line=9, fresh=True, carries=True, shape=())
        run.update(optimizer, run.backward(loss, line=10, exits=(out,)))
    # THEN the text of the script leads back to the line where they left
    real, fake = judge(run)
    assert (real.rule, real.site.line) == ("numpy-round-trip", 7)
    assert real.confidence == "likely"
    assert real.back_at.line == 9
    # AND the loss that pretends to have a gradient is named too, with the real cut
    assert (fake.rule, fake.site.line) == ("fake-root", 9)
    assert fake.real.rule == "numpy-round-trip"


# -- cuts that do not show ------------------------------------------------------------------------


def masked_update(run, action, times=3):
    actor, critic = run.network("actor"), run.network("critic")
    actor_opt, critic_opt = run.optimizer("actor_opt", actor), run.optimizer("critic_opt", critic)
    for _ in range(times):
        run.update(critic_opt, run.backward(run.op("mse_loss", run.call(critic, line=7), line=7), line=8))
        out = run.call(actor, line=9)
        q = run.op("mean", run.call(critic, action(run, out), line=11), line=12)
        bonus = run.op("mul", run.op("mean", run.op("entropy", out, line=13), line=13), line=13, shape=())
        run.update(actor_opt, run.backward(run.op("sub", q, bonus, line=14, shape=()), line=15))


def test_a_cut_in_one_term_is_found_behind_the_living_one(run, only):
    # GIVEN an action that is detached on its way to the critic, and an entropy bonus that still lives
    masked_update(run, lambda run, out: run.op("detach", out, line=10, carries=False))
    # THEN the cut is named, as masked and as likely
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("detached", 10)
    assert cause.masked and cause.confidence == "likely"
    assert names(cause) == ["actor.weight", "actor.bias"]


def test_a_bonus_beside_a_living_term_is_silent(run, judge):
    masked_update(run, lambda run, out: out)
    assert judge(run) == []


def test_an_advantage_that_is_meant_to_be_constant_is_silent(run, judge):
    # GIVEN policy gradient: log_prob(action) * (return - value).detach(), plus a value loss, one optimizer
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("optimizer", actor, critic)
    for _ in range(3):
        value = run.call(critic, line=5)
        advantage = run.op(
            "detach", run.op("sub", run.data(), value, line=6, shape=(8,)), line=6, carries=False
        )
        dist = run.call(actor, line=7)
        action = run.op("multinomial", dist, line=8, carries=False, floating=False, api="Categorical.sample")
        weighted = run.op("mul", run.op("log_prob", dist, action, line=9), advantage, line=9, shape=(8,))
        policy = run.op("neg", run.op("mean", weighted, line=9), line=9)
        loss = run.op("add", policy, run.op("mse_loss", value, run.data(), line=10), line=11)
        run.update(optimizer, run.backward(loss, line=12))
    assert judge(run) == []


def surrogate_and_kl(run, weighted):
    """A policy gradient whose log-probability is cut, and a KL that trains the same log-probability."""
    policy = run.network("policy")
    optimizer = run.optimizer("optimizer", policy)
    for _ in range(3):
        new = run.op("log_softmax", run.call(policy, line=5), line=6)
        cut = run.op("detach", new, line=7, carries=False)
        kl = run.op("sub", run.data(), new, line=9, shape=(8, 2))
        loss = run.op("mean", run.op("add", weighted(run, cut), kl, line=10, shape=(8, 2)), line=10)
        run.update(optimizer, run.backward(loss, line=12))


def test_a_policy_gradient_that_a_kl_hides(run, only):
    surrogate_and_kl(run, lambda run, cut: run.op("mul", run.op("exp", cut, line=8), run.data(), line=8))
    cause = only(run)
    assert (cause.rule, cause.site.line, cause.masked) == ("detached", 7, True)


def test_a_log_probability_that_is_only_subtracted_is_a_constant(run, judge):
    surrogate_and_kl(run, lambda run, cut: run.op("neg", cut, line=8, shape=(8, 2)))
    assert judge(run) == []


@pytest.mark.parametrize(("cut", "found"), [(True, [("detached", 6)]), (False, [])])
def test_two_means_in_one_line(run, judge, cut, found):
    """``loss = -(log_prob * advantage).mean() - 0.01 * entropy.mean()``"""
    policy = run.network("policy")
    optimizer = run.optimizer("optimizer", policy)
    for _ in range(3):
        out = run.call(policy, line=5)
        score = run.op("log_softmax", out, line=6)
        score = run.op("detach", score, line=6, carries=False) if cut else score
        gradient = run.op("mean", run.op("mul", score, run.data(), line=7), line=8)
        bonus = run.op("mul", run.op("mean", run.op("entropy", out, line=7), line=8), line=8, shape=())
        loss = run.op("sub", run.op("neg", gradient, line=8), bonus, line=8, shape=())
        run.update(optimizer, run.backward(loss, line=9))
    assert [(c.rule, c.site.line) for c in judge(run)] == found


# -- the loss does not know the network -----------------------------------------------------------


def test_a_loss_of_old_rollout_data_does_not_depend_on_the_network(run, only):
    # GIVEN values of a rollout under no_grad, that several epochs use as if they were predictions
    pi, vf = run.network("pi"), run.network("vf")
    optimizer = run.optimizer("optimizer", pi, vf)
    for _ in range(3):
        value = run.call(vf, line=5, **run.no_grad(4))
        for _ in range(3):
            policy = run.op("mean", run.call(pi, line=8), line=9)
            error = run.op("mse_loss", value, run.data(), line=10)
            loss = run.op("add", policy, error, line=11)
            run.update(optimizer, run.backward(loss, line=12))
    # THEN it is the loss that leaves the network out; the block is how one collects a rollout
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("loss-independent", 11)
    assert names(cause) == ["vf.weight", "vf.bias"]


def test_another_network_in_its_place(run, only):
    online, target = run.network("online"), run.network("target", copy_of="online")
    optimizer = run.optimizer("optimizer", online)
    for _ in range(3):
        run.update(optimizer, run.backward(run.op("mse_loss", run.call(target, line=7), line=8), line=9))
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("loss-independent", 8)
    assert (cause.kind, cause.instead) == ("other-network", ("target",))


def test_a_head_that_is_never_called_is_only_a_warning(run, only):
    # GIVEN one optimizer for a network that learns and for a head that nobody calls
    body, spare = run.network("body"), run.network("spare", used=False)
    optimizer = run.optimizer("optimizer", body, spare)
    for _ in range(3):
        run.update(optimizer, run.backward(run.op("mean", run.call(body, line=7), line=8), line=9))
    cause = only(run)
    assert (cause.rule, cause.severity) == ("loss-independent", "warning")
    assert names(cause) == ["spare.weight", "spare.bias"]


def test_a_loss_that_reached_nothing_and_raised(run, only):
    # GIVEN "element 0 of tensors does not require grad": a detached action and a critic without gradient
    actor = run.network("actor")
    run.optimizer("optimizer", actor)
    loss = run.op("mean", run.op("detach", run.call(actor, line=4), line=5, carries=False), line=6)
    run.failed(loss, error="RuntimeError: element 0 of tensors does not require grad", line=7)
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("detached", 5)
    assert (cause.first_update, cause.updates) == (1, 1)
