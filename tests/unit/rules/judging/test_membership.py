"""Parameters and optimizers: left out, replaced, mixed up, frozen, never stepped."""

from dataclasses import replace

import pytest

from whygrad.flow.situation import Situation
from whygrad.model import Mark, Severity, Site
from whygrad.rules.judging import causes


def names(cause):
    return [p.name for p in cause.subjects]


def train(run, optimizer, loss, times=3):
    for _ in range(times):
        run.update(optimizer, run.backward(loss(), line=9))


# -- not in any optimizer -------------------------------------------------------------------------


def test_upstream_of_what_is_trained(run, only):
    # GIVEN an encoder in front of a trained head
    encoder, head = run.network("encoder"), run.network("head")
    optimizer = run.optimizer("optimizer", head, line=3)
    train(run, optimizer, lambda: run.op("mean", run.call(head, run.call(encoder, line=6), line=7), line=8))
    # THEN the encoder is missed where the optimizer was made
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("not-in-optimizer", 3)
    assert names(cause) == ["encoder.weight", "encoder.bias"]
    assert cause.optimizers == ("optimizer",) and not cause.selective


def test_a_term_of_its_own(run, only):
    # GIVEN two critics with a loss each, and an optimizer for the first
    one, two = run.network("critic1"), run.network("critic2")
    optimizer = run.optimizer("optimizer", one, line=3)
    train(
        run,
        optimizer,
        lambda: run.op(
            "add",
            run.op("mse_loss", run.call(one, line=6), line=6),
            run.op("mse_loss", run.call(two, line=7), line=7),
            line=8,
        ),
    )
    assert (only(run).rule, names(only(run))) == ("not-in-optimizer", ["critic2.weight", "critic2.bias"])


def test_a_part_of_a_network_that_is_trained(run, only):
    # GIVEN one network of which the optimizer has only the weight
    actor = run.network("actor")
    optimizer = run.optimizer("optimizer", actor, line=3)
    weight = min(actor.keys)
    run.optimizers[optimizer.key] = optimizer = type(optimizer)(
        optimizer.key, "optimizer", "Adam", optimizer.made, frozenset([weight])
    )
    train(run, optimizer, lambda: run.op("mean", run.call(actor, line=6), line=7))
    assert (only(run).rule, names(only(run))) == ("not-in-optimizer", ["actor.bias"])


def test_a_lone_parameter(run, only):
    actor, log_std = run.network("actor"), run.network("log_std", ())
    optimizer = run.optimizer("optimizer", actor)
    train(run, optimizer, lambda: run.op("mean", run.op("mul", run.call(actor), log_std.ops[0])))
    assert (only(run).rule, names(only(run))) == ("not-in-optimizer", ["log_std"])


def test_a_target_network_that_collects_gradients_is_silent(run, judge):
    # GIVEN a bootstrap target that somebody forgot to detach: a copy, held by nobody
    online, target = run.network("online"), run.network("target", copy_of="online", written=True)
    optimizer = run.optimizer("optimizer", online)
    train(
        run, optimizer, lambda: run.op("mse_loss", run.call(online, line=6), run.call(target, line=7), line=8)
    )
    assert judge(run) == []


def test_a_teacher_that_collects_gradients_is_silent(run, judge):
    # GIVEN the critic in the actor's update: it gets gradients that are not for it
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("optimizer", actor)
    train(run, optimizer, lambda: run.op("mean", run.call(critic, run.call(actor, line=6), line=7), line=8))
    assert judge(run) == []


def test_an_input_that_asks_for_gradients_is_silent(run, judge):
    # GIVEN a batch with requires_grad, as for a gradient penalty
    critic, batch = run.network("critic"), run.network("batch", (), lasting=False)
    optimizer = run.optimizer("optimizer", critic)
    train(run, optimizer, lambda: run.op("mean", run.call(critic, batch.ops[0])))
    assert judge(run) == []


def test_used_but_not_listed_by_its_module(run, only):
    heads = run.network("net.heads[0]", line=5, untracked_in="net", untracked_how="plain list")
    body = run.network("net")
    optimizer = run.optimizer("optimizer", body)
    train(run, optimizer, lambda: run.op("mean", run.call(heads, run.call(body, line=6), line=7), line=8))
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("not-tracked", 5)
    assert (cause.holder, cause.how) == ("net", "plain list")


# -- the wrong parameters -------------------------------------------------------------------------


def test_an_optimizer_that_holds_a_replaced_network(run, only):
    # GIVEN a network that was made anew on line 7, after the optimizer; the old one lives only in there
    old = run.network("old", alive=False)
    optimizer = run.optimizer("optimizer", old, line=3)
    new = run.network("net", replaced_at=Site("train.py", 7))
    train(run, optimizer, lambda: run.op("mean", run.call(new, line=8), line=8))
    # THEN one cause: the replacement; and not that the loss ignores the old one
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("stale-optimizer", 7)
    assert names(cause) == ["net.weight", "net.bias"]


def test_an_optimizer_with_the_parameters_of_another_network(run, only):
    # GIVEN critic_opt = Adam(actor.parameters()): the critic's own loss reaches nothing that it holds
    actor, critic = run.network("actor"), run.network("critic")
    actor_opt, critic_opt = (
        run.optimizer("actor_opt", actor, line=3),
        run.optimizer("critic_opt", actor, line=4),
    )
    for _ in range(3):
        run.update(critic_opt, run.backward(run.op("mse_loss", run.call(critic, line=6), line=6), line=7))
        run.update(actor_opt, run.backward(run.op("mean", run.call(actor, line=8), line=8), line=9))
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("wrong-variables", 4)
    assert names(cause) == ["critic.weight", "critic.bias"]
    assert (cause.optimizer, cause.kind) == ("critic_opt", "held")
    assert (cause.others, cause.meant) == (("actor",), ("critic",))


@pytest.mark.parametrize(("asked", "rule"), [("critic", "wrong-variables"), ("actor", "no-step")])
def test_autograd_grad_for_others_or_without_handing_it_over(run, only, asked, rule):
    # GIVEN autograd.grad(loss, ....parameters()), and an optimizer of the actor that finds nothing
    actor, critic = run.network("actor"), run.network("critic")
    wanted = {"actor": actor, "critic": critic}[asked].keys
    optimizer = run.optimizer("optimizer", actor)
    run.optimizer("critic_opt", critic, steps=3)
    for _ in range(3):
        loss = run.op("mean", run.call(critic, run.call(actor, line=5), line=6), line=6)
        reached = frozenset() if asked == "actor" else wanted
        run.update(optimizer, run.backward(loss, line=7, wanted=wanted, reached=reached))
    cause = only(run)
    assert (cause.rule, cause.site.line) == (rule, 7)
    assert names(cause) == ["actor.weight", "actor.bias"]


@pytest.mark.parametrize(("late", "rule"), [(False, "not-in-optimizer"), (True, "stale-optimizer")])
def test_a_module_takes_its_place_before_there_is_an_optimizer_or_after(run, only, late, rule):
    head = run.network("head")
    new = run.network("body", replaced_at=Site("/lib/site-packages/lib.py", 7))
    run.now(new, replaced_when=next(run.clock))
    optimizer = run.optimizer("optimizer", head)
    if late:
        run.now(new, replaced_when=next(run.clock))
    train(run, optimizer, lambda: run.op("mean", run.call(head, run.call(new, line=6), line=7), line=8))
    assert only(run).rule == rule


# -- frozen ---------------------------------------------------------------------------------------


def frozen_body(run, **facts):
    head = run.network("head")
    body = run.network("body", trainable=False, frozen_at=Site("train.py", 4), **facts)
    optimizer = run.optimizer("optimizer", body, head)
    train(run, optimizer, lambda: run.op("mean", run.call(head, run.call(body, line=6), line=7), line=8))


def test_frozen_and_never_trained(run, only):
    frozen_body(run)
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("frozen", 4)
    assert names(cause) == ["body.weight", "body.bias"]


@pytest.mark.parametrize("facts", [{"loaded": True}, {"trained": True}])
def test_a_layer_that_was_loaded_or_trained_before_may_rest(run, judge, facts):
    frozen_body(run, **facts)
    assert judge(run) == []


@pytest.mark.parametrize(
    ("file", "late", "found"),
    [
        ("/lib/site-packages/peft/tuners.py", False, []),  # model.parameters() of a model with adapters
        ("/lib/site-packages/lightning/module.py", True, ["frozen"]),  # toggled, and never back
        ("train.py", False, ["frozen"]),
    ],
)
def test_what_a_library_froze_before_the_optimizer_was_made_rests(run, judge, file, late, found):
    head = run.network("model.head", network="model", trained=True)
    body = run.network("model.body", network="model", trainable=False, frozen_at=Site(file, 4))
    run.now(body, frozen_when=next(run.clock))
    optimizer = run.optimizer("optimizer", body, head)
    if late:
        run.now(body, frozen_when=next(run.clock))
    train(run, optimizer, lambda: run.op("mean", run.call(head, run.call(body, line=6), line=7), line=8))
    assert [cause.rule for cause in judge(run)] == found


# -- nobody steps ---------------------------------------------------------------------------------


def test_gradients_without_a_step(run, only):
    actor = run.network("actor")
    run.optimizer("optimizer", actor, line=3)
    run.loose += [run.backward(run.op("mean", run.call(actor, line=5), line=5), line=6) for _ in range(3)]
    cause = only(run)
    assert (cause.rule, cause.site.line) == ("no-step", 6)
    assert (cause.rate_zero, cause.asked, cause.updates) == (False, False, 3)
    assert (cause.chain[-1].what, cause.chain[-1].mark) == ("optimizer.step() is never called", Mark.LOST)


def test_gradients_of_a_tape_without_a_step(run):
    actor = run.network("actor")
    run.optimizer("optimizer", actor, line=3)
    for _ in range(3):
        loss = run.op("mean", run.call(actor, line=5), line=5)
        run.loose.append(replace(run.backward(loss, line=6, wanted=actor.keys), tape=True))
    (cause,) = causes(Situation(replace(run.evidence(), framework="tensorflow")))
    assert cause.rule == "no-step" and cause.asked
    assert cause.chain[-1].what == "optimizer.apply_gradients(...) is never called"


def test_a_script_that_still_runs_may_step_later(run):
    actor = run.network("actor")
    run.optimizer("optimizer", actor, line=3)
    run.loose += [run.backward(run.op("mean", run.call(actor, line=5), line=5), line=6) for _ in range(3)]
    assert causes(Situation(replace(run.evidence(), running=True))) == []


def test_one_backward_is_no_training_loop(run, judge):
    actor = run.network("actor")
    run.optimizer("optimizer", actor)
    run.loose += [run.backward(run.op("mean", run.call(actor)))]
    assert judge(run) == []


def test_weights_that_are_changed_by_hand_need_no_step(run, judge):
    actor = run.network("actor", written=True)
    run.optimizer("optimizer", actor)
    run.loose += [run.backward(run.op("mean", run.call(actor))) for _ in range(3)]
    assert judge(run) == []


def test_a_learning_rate_of_zero(run, only):
    actor = run.network("actor")
    optimizer = run.optimizer("optimizer", actor, line=3, lr_always_zero=True)
    train(run, optimizer, lambda: run.op("mean", run.call(actor)))
    assert (only(run).rule, only(run).site.line, only(run).rate_zero) == ("no-step", 3, True)


# -- a loss that pretends -------------------------------------------------------------------------


def test_a_loss_that_was_told_to_require_a_gradient(run, judge):
    # GIVEN loss = f(actor(s).detach()); loss.requires_grad_(True)
    actor = run.network("actor")
    optimizer = run.optimizer("optimizer", actor)
    for _ in range(3):
        cut = run.op("detach", run.call(actor, line=5), line=5, carries=False)
        loss = run.op("requires_grad_", run.op("mean", cut, line=6), line=7, carries=True, shape=())
        run.update(optimizer, run.backward(loss, line=8))
    # THEN both are named: the cut, and the line that silenced the error
    real, fake = judge(run)
    assert (real.rule, real.site.line) == ("detached", 5)
    assert (fake.rule, fake.site.line) == ("fake-root", 7)
    assert (fake.real.rule, fake.real.site.line) == ("detached", 5)


@pytest.mark.parametrize(("steps", "since", "found"), [(100, 3, 1), (100, 90, 0), (12, 8, 0), (5, 1, 1)])
def test_a_learning_rate_that_becomes_zero(run, judge, steps, since, found):
    """For most of the run it is a fault; at the end of it, the end of a schedule."""
    actor = run.network("actor")
    still = dict.fromkeys(actor.keys, since)
    optimizer = run.optimizer("optimizer", actor, line=3, still=still)
    run.update(optimizer, run.backward(run.call(actor, line=5), line=6))
    run.optimizers[optimizer.key] = replace(run.optimizers[optimizer.key], steps=steps)
    assert [(c.rule, c.first_update) for c in judge(run)] == [("no-step", since)] * found


def test_a_learning_rate_of_zero_for_one_of_two_networks(run, judge):
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("optimizer", actor, critic, line=3, still=dict.fromkeys(actor.keys, 1))
    for _ in range(4):
        run.update(optimizer, run.backward(run.call(critic, run.call(actor, line=5), line=6), line=7))
    found = [(c.rule, c.severity, {p.network for p in c.subjects}) for c in judge(run)]
    assert found == [("no-step", Severity.WARNING, {"actor"})]
