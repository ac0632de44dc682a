"""Sentences that were wrong when somebody followed them to the letter: what is offered, and said, in their place."""

from dataclasses import replace

import pytest

pytest.importorskip("libcst")

from tests.unit.fixing.build import finding, run
from tests.unit.fixing.test_proposals import BROKEN, CUT, HERE, LEAK, proposed

from whygrad.fixing.proof import Lines, Outcome, prove
from whygrad.model import Parameter, Site
from whygrad.rules.figures import stalled
from whygrad.rules.figures.stalled import Stalled
from whygrad.rules.losses import value_sign
from whygrad.rules.losses.value_sign import ValueSign
from whygrad.rules.targets import target_never_synced
from whygrad.rules.targets.target_never_synced import TargetNeverSynced


def test_target_leak_a_critic_that_no_longer_learns_is_no_cure():
    """`delta.detach()` silences the rule, and the critic."""
    leak = finding("target-leak", "delta = r + v_next - v\n", "delta", network="critic")
    proof = prove(leak, run(leak, learn=("critic",)), run(learn=()), Lines({}, {}))
    assert proof.outcome is Outcome.FAILED and "critic does not learn any more" in proof.against


def test_target_leak_stops_the_value_of_the_next_state_first():
    text = "delta = r + gamma * v_next * (1 - done) - v\nloss = delta.pow(2).mean()\n"
    found = proposed("target-leak", text, "delta = ", ("delta = ", LEAK), network="critic")
    assert found[0] == text.replace("v_next", "v_next.detach()")


def test_frozen_in_keras_is_cured_where_the_layers_were_frozen():
    """`model.trainable = True` around frozen layers changes nothing: the line that froze them goes."""
    text = "for layer in base.layers:\n    layer.trainable = False\nmodel = Model(base)\n"
    found = proposed("frozen", text, "layer.trainable", network="model.base", framework="tensorflow")
    assert found == ["model = Model(base)\n"]


def test_backward_twice_keeps_no_graph_where_a_value_was_stored():
    text = "old = dist.log_prob(a)\nfor _ in range(4):\n    loss = f(old)\n    loss.backward(retain_graph=True)\n"
    found = proposed("backward-twice", text, "old =", ("loss.backward", BROKEN))
    assert found[0] == text.replace("log_prob(a)", "log_prob(a).detach()")


def test_numpy_round_trip_tries_cat_where_shapes_may_ask_for_it():
    found = proposed("numpy-round-trip", "lp = torch.tensor(lps)\n", "lp =", ("lp =", CUT))
    assert found[:2] == ["lp = torch.stack(lps)\n", "lp = torch.cat(lps)\n"]


def test_numpy_round_trip_leaves_no_call_of_numpy_behind():
    text = "a = np.clip(net(s).detach().numpy(), -1, 1)\n"
    assert proposed("numpy-round-trip", text, "a =", ("a =", CUT))[0] == "a = torch.clamp(net(s), -1, 1)\n"


def test_argmax_is_replaced_by_the_value_of_the_action_that_is_there():
    text = "def loss(q, actions):\n    p = q.argmax(1).float()\n    return p\n"
    found = proposed("nondifferentiable-op", text, "p = ", ("p = ", HERE))
    assert found[0] == text.replace("q.argmax(1).float()", "q.gather(1, actions).squeeze(1)")
    assert not any(".max(" in change for change in found)


def test_a_variable_around_the_loss_is_taken_off_and_no_other_statement_is_touched():
    text = "x = f(s)\nloss = Variable(loss, requires_grad=True)\nloss.backward()\n"
    found = proposed("loss-independent", text, "loss = Var")
    assert found[0] == "x = f(s)\nloss.backward()\n"


def test_a_minus_turns_one_term_round_and_not_the_whole_sum():
    """`-(policy + value - entropy)` is silent, and the critic runs away."""
    text = "loss = (lp * adv).mean() + 0.5 * vl - 0.01 * ent\n"
    found = proposed("value-sign", text, "loss =")
    assert found[0] == text.replace("(lp", "-(lp") and not any("= -((" in change for change in found)
    said = value_sign.phrase(
        ValueSign(site=Site("t.py", 1, code="loss = d.log_prob(a).mean() + 0.5 * vl"))
    ).fix
    assert said.startswith("put a minus in front of `d.log_prob(a).mean()` alone")


def test_wrong_variables_names_the_network_whose_list_it_is():
    text = "g = tape.gradient(critic_loss, actor.trainable_variables)\nopt.apply_gradients(zip(g, actor.trainable_variables))\n"
    whole = f"critic_loss = f(critic(s))\n{text}"
    found = proposed(
        "wrong-variables",
        whole,
        "g = tape",
        ("critic_loss = ", HERE),
        network="actor",
        others=("critic",),
        framework="tensorflow",
    )
    assert whole.replace("actor.", "critic.") in found


def test_no_statement_is_left_that_gives_a_name_its_own_value():
    assert proposed("detached", "a = f(s)\na = a.detach()\n", "a = a.", ("a = a.", CUT))[0] == "a = f(s)\n"


def test_stalled_never_says_that_a_step_is_nothing_of_the_weights():
    assert "its steps change nothing" in stalled.phrase(Stalled(ratio=0.0)).title


def test_parameters_are_not_wrapped_as_layers_nor_layers_as_parameters():
    assert len(proposed("not-tracked", "self.h = [nn.Linear(2, 2)]\n", "self.h")) == 1
    found = proposed("not-tracked", "self.h = [torch.randn(2)]\n", "self.h")
    assert found[0] == "self.h = torch.nn.ParameterList([torch.randn(2)])\n"


def test_each_target_follows_the_network_that_it_is_a_copy_of():
    """Of two critics: `q2_lagged` never takes the weights of `q1`."""
    subjects = tuple(
        Parameter(k, f"q2_lagged.0.{part}", "q2_lagged", copy_of="q2")
        for k, part in enumerate(("weight", "bias"))
    )
    cause = TargetNeverSynced(subjects=subjects, online=("q1",))
    assert ".load_state_dict(q2.state_dict())`" in target_never_synced.phrase(cause).fix
    items = (Parameter(1, "target['0.weight']", "target"),)
    assert "load_state_dict" not in target_never_synced.phrase(replace(cause, subjects=items)).fix
