"""Lists with nothing in them, and why; gradients that were asked for in vain; what a forward pass makes anew."""

from dataclasses import replace

import pytest

from whygrad.flow.situation import Situation
from whygrad.model import EmptyList, Site
from whygrad.rules.judging import causes


def crashed(run, **facts):
    """An optimizer on line 7 that could not be made."""
    nothing = EmptyList(Site("train.py", 7, "main", "opt = Adam(actor.parameters())"), "Adam", **facts)
    return replace(run.evidence(), empty=(nothing,), finished=False)


def only(evidence):
    (found,) = causes(Situation(evidence))
    return found


def test_a_module_that_lists_nothing(run):
    actor = run.network("actor", line=4, untracked_in="actor", untracked_how="plain list")
    cause = only(crashed(run, parameters=actor.keys, asked=True))
    assert (cause.rule, cause.site.line, cause.asked.line) == ("not-tracked", 4, 7)


def test_everything_is_frozen(run):
    actor = run.network("actor", line=4, trainable=False, frozen_at=run.site(5))
    cause = only(crashed(run, parameters=actor.keys, asked=True))
    assert (cause.rule, cause.site.line) == ("frozen", 5)


def test_nobody_knows_whose_list_it_was(run):
    """The line speaks of the actor; the target is frozen on purpose."""
    actor = run.network("actor", line=4, untracked_in="actor", untracked_how="plain list")
    target = run.network("target", line=5, trainable=False, frozen_at=run.site(6))
    cause = only(crashed(run, parameters=actor.keys | target.keys))
    assert cause.rule == "not-tracked" and {p.network for p in cause.subjects} == {"actor"}


@pytest.mark.parametrize(("facts", "kind"), [({"used_up": True}, "used-up"), ({"asked": True}, "empty")])
def test_nothing_is_hidden_or_frozen(run, facts, kind):
    cause = only(crashed(run, **facts))
    assert (cause.rule, cause.kind, cause.site.line) == ("wrong-variables", kind, 7)


def test_the_error_was_caught_and_the_line_ran_again(run, judge):
    actor = run.network("actor")
    opt = run.optimizer("opt", actor, line=7)
    run.update(opt, run.backward(run.op("mean", run.call(actor))))
    nothing = EmptyList(run.optimizers[opt.key].made, "Adam", actor.keys, asked=True)
    assert causes(Situation(replace(run.evidence(), empty=(nothing,)))) == []


# -- tapes ----------------------------------------------------------------------------------------


def asked(run, network, count, line=9):
    loss = run.op("mean", run.call(network, line=8), line=8)
    wanted = network.keys if count else frozenset()
    run.loose.append(run.backward(loss, line=line, tape=True, asked=count, wanted=wanted))


@pytest.mark.parametrize(
    ("facts", "rule", "line"),
    [
        ({}, "wrong-variables", 9),
        ({"trainable": False, "frozen_at": Site("train.py", 5)}, "frozen", 5),
        ({"untracked_in": "agent", "untracked_how": "plain object"}, "not-tracked", 4),
    ],
)
def test_a_tape_is_asked_for_nothing(run, facts, rule, line):
    net = run.network("net", line=4, **facts)
    for key in net.keys:  # a tape sees what is frozen after it was made
        run.parameters[key] = replace(run.parameters[key], **facts)
    loss = run.op("mean", run.call(net, line=8, carries=True), line=8)
    for _ in range(2):
        run.loose.append(run.backward(loss, line=9, tape=True, asked=0, reached=net.keys))
    cause = only(replace(run.evidence(), framework="tensorflow"))
    assert (cause.rule, cause.site.line) == (rule, line)


def test_a_first_round_without_variables_is_a_warm_up(run):
    net = run.network("net", written=True)
    asked(run, net, 0)
    asked(run, net, 2)
    assert causes(Situation(replace(run.evidence(), framework="tensorflow"))) == []


def test_gradients_in_a_loop_for_nobody(run):
    net = run.network("net")
    for _ in range(3):
        asked(run, net, 2)
    cause = only(replace(run.evidence(), framework="tensorflow"))
    assert (cause.rule, cause.severity, cause.site.line) == ("no-step", "warning", 9)


def test_a_hand_moves_them(run):
    net = run.network("net", written=True)
    for _ in range(3):
        asked(run, net, 2)
    assert causes(Situation(replace(run.evidence(), framework="tensorflow"))) == []


# -- made in forward ------------------------------------------------------------------------------


def test_a_layer_for_each_forward_pass(run):
    body = run.network("body")
    opt = run.optimizer("opt", body)
    for _ in range(3):
        head = run.network("head", made=(run.site(5, "forward"),), alive=False)
        loss = run.op("mean", run.call(head, run.call(body)))
        run.update(opt, run.backward(loss))
    cause = only(run.evidence())
    assert (cause.rule, cause.how, cause.site.line) == ("not-tracked", "made in call", 5)


def test_a_layer_that_is_made_once(run, judge):
    body = run.network("body")
    head = run.network("head", made=(run.site(5, "forward"),))
    opt = run.optimizer("opt", body, head)
    for _ in range(3):
        run.update(opt, run.backward(run.op("mean", run.call(head, run.call(body)))))
    assert judge(run) == []
