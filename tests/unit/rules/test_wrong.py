"""The words for gradients that arrive and are not the right ones."""

import pytest

from whygrad.model import Site


def test_broadcast_names_the_shapes(said):
    finding = said("broadcast-loss", "td = q - y", column="(32, 1)", row="(32,)", wide="(32, 32)")
    assert finding.title == "the loss works on (32, 32): (32, 1) met (32,)"
    assert "squeeze" in finding.fix and "squeeze()" in finding.avoid


def test_broadcast_that_is_only_averaged(said):
    assert "harmless" in said("broadcast-loss", harmless="yes").title


def test_target_leak_rewrites_with_the_users_name(said):
    finding = said("target-leak", "y = r + gamma * q(s2).max(1)[0]", loss=Site("/home/me/train.py", 50))
    assert "`y.detach()`" in finding.fix
    assert "line 50" in finding.why


def test_target_leak_into_what_nobody_trains_is_harmless(said):
    assert "nobody uses" in said("target-leak", harmless="yes").title


@pytest.mark.parametrize(
    ("kind", "words"),
    [("direction", "overwrites q with target"), ("proportion", "tau and 1 - tau are swapped")],
)
def test_target_reversed(said, kind, words):
    assert words in said("target-reversed", kind=kind, online="q", target="target", factor="0.995").title


def test_target_alias_offers_a_copy(said):
    finding = said("target-alias", "self.target = self.q", target="agent.target", online="agent.q")
    assert finding.title == "agent.target is agent.q: the same parameters under two names"
    assert "copy.deepcopy(q)" in finding.fix


def test_zero_grad_missing_names_the_optimizer(said):
    assert (
        "`actor_opt.zero_grad()`" in said("zero-grad-missing", "loss.backward()", optimizer="actor_opt").fix
    )


def test_clip_to_nothing_says_how_much(said):
    finding = said("clip-to-nothing", threshold="1e-06", before="2.3", left="4.3e-05 %", kind="norm")
    assert finding.title == "clipping leaves 4.3e-05 % of the gradient"
    assert "The norm was 2.3, the threshold is 1e-06." in finding.why


def test_stacked_clips_name_the_other(said):
    assert "`clip_grad_norm_(p, 0.5)`" in said("clip-to-nothing", stacked="clip_grad_norm_(p, 0.5)").why


def test_polluted_gradient_warns_of_the_detach(said, parameters):
    finding = said("polluted-gradient", "actor_loss.backward()", parameters("critic"), optimizer="critic_opt")
    assert "critic is trained by another network's loss" in finding.title
    assert "`critic_opt.zero_grad()`" in finding.fix
    assert ".detach()" in finding.avoid


def test_advantage_uses_the_users_name(said):
    finding = said("advantage-not-detached", "adv = returns - v", policy_line="44")
    assert finding.fix == "use `adv.detach()` in the policy loss (line 44)"


@pytest.mark.parametrize(("kind", "words"), [("ratio", "with itself"), ("sample", "scored sample")])
def test_cancelled_gradient(said, kind, words):
    assert words in said("cancelled-gradient", kind=kind).title
