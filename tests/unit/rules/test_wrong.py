"""The words for gradients that arrive and are not the right ones."""

import pytest

from whygrad.model import Site
from whygrad.rules.losses.surrogate_missing import Made


@pytest.mark.parametrize(
    ("framework", "squeeze"), [("torch", "column.squeeze(-1)"), ("tensorflow", "tf.squeeze(column, axis=-1)")]
)
def test_broadcast_names_the_shapes(said, framework, squeeze):
    shapes = {"column": (32, 1), "row": (32,), "wide": (32, 32)}
    finding = said("broadcast-loss", "td = q - y", framework=framework, **shapes)
    assert finding.title == "the loss works on (32, 32): (32, 1) met (32,)"
    assert finding.fix == f"give both the same shape: `{squeeze}`, or `row[..., None]`"
    assert "squeeze()" in finding.avoid


def test_broadcast_is_mended_with_the_users_names(said):
    finding = said("broadcast-loss", "td = q - y", names=("q", "y"))
    assert finding.fix == "give both the same shape: `q.squeeze(-1)`, or `y[..., None]`"


def test_broadcast_of_batches_whose_length_is_not_known(said):
    assert said("broadcast-loss").title == "the loss works on (N, N): (N, 1) met (N,)"


@pytest.mark.parametrize(
    ("column", "row", "single", "fix"),
    [
        ((32, 1), (32, 3), "one number for each row", "q.gather(1, a)"),
        ((), (32,), "a single number", "along one axis"),
    ],
)
def test_broadcast_of_one_for_many(said, column, row, single, fix):
    finding = said("broadcast-loss", "td = q - y", repeated=True, column=column, row=row, wide=row)
    assert finding.title == f"the loss works on {row}: {column} met {row}"
    assert single in finding.why
    assert fix in finding.fix


def test_broadcast_that_is_only_averaged(said):
    assert said("broadcast-loss", harmless=True).title.endswith("met (N,), which is harmless here")


NO_GRAD, NO_TAPE = "compute it under `with torch.no_grad():`", "compute it before the tape is opened"


@pytest.mark.parametrize(
    ("framework", "code", "fix"),
    [
        ("torch", "y = r + q(s2)", f"{NO_GRAD}, or use `y.detach()` in the loss"),
        ("torch", "return r + q(s2)", f"{NO_GRAD}, or stop its gradient with `.detach()`"),
        ("tensorflow", "y = r + q(s2)", f"{NO_TAPE}, or use `tf.stop_gradient(y)` in the loss"),
        ("tensorflow", "return r + q(s2)", f"{NO_TAPE}, or stop its gradient with `tf.stop_gradient`"),
    ],
)
def test_target_leak_rewrites_with_the_users_name(said, framework, code, fix):
    finding = said("target-leak", code, framework=framework, loss=Site("/home/me/train.py", 50))
    assert finding.fix == fix
    assert finding.why.startswith("The loss at line 50 compares")
    assert "only the target" not in finding.why


def test_target_leak_beside_a_prediction_that_is_cut(said):
    finding = said("target-leak", prediction_cut=True)
    assert finding.why.endswith("The prediction carries none: only the target is trained.")


@pytest.mark.parametrize(
    ("framework", "asked", "fix"),
    [
        ("torch", False, NO_GRAD),
        ("torch", True, f"{NO_GRAD}, and ask `autograd.grad` only for what is trained"),
        ("tensorflow", True, f"{NO_TAPE}, and ask `tape.gradient` only for what is trained"),
    ],
)
def test_target_leak_into_what_nobody_trains_is_harmless(said, framework, asked, fix):
    finding = said("target-leak", framework=framework, harmless=True, asked=asked)
    assert "nobody uses" in finding.title
    assert finding.fix == fix


def test_target_reversed(said):
    overwrites = said("target-reversed", online="q", target="target")
    assert overwrites.title == "the sync overwrites q with target"
    swapped = said("target-reversed", online="q", target="target", taken=0.995)
    assert swapped.title == "target takes 0.995 of q at each sync: tau and 1 - tau are swapped"


@pytest.mark.parametrize(
    ("framework", "copy", "shallow"),
    [
        ("torch", "`copy.deepcopy(q)`", "`copy.copy`"),
        ("tensorflow", "`keras.models.clone_model(q)`, then `set_weights`", "`clone_model` alone"),
    ],
)
def test_target_alias_offers_a_copy(said, framework, copy, shallow):
    names = {"target": "agent.target", "online": "agent.q"}
    finding = said("target-alias", "self.target = self.q", framework=framework, **names)
    assert finding.title == "agent.target is agent.q: the same parameters under two names"
    assert finding.fix == f"make a network of its own: {copy}"
    assert finding.avoid.startswith(shallow)


@pytest.mark.parametrize(
    ("framework", "copy"),
    [
        ("torch", "target.load_state_dict(q.state_dict())"),
        ("tensorflow", "target.set_weights(q.get_weights())"),
    ],
)
def test_target_never_synced_says_what_to_copy(said, parameters, framework, copy):
    finding = said(
        "target-never-synced", subjects=parameters("target"), framework=framework, online=("q",), updates=40
    )
    assert finding.title == "target never changes while q learns"
    assert "and after 40 updates still has the first weights" in finding.why
    assert finding.fix.startswith(f"copy the weights from time to time, `{copy}`, or blend")


def test_twin_targets_that_are_never_synced(said, parameters):
    twins = (*parameters("target_1"), *parameters("target_2"))
    finding = said("target-never-synced", subjects=twins, online=("q_1", "q_2"))
    assert finding.title == "target_1 and target_2 never change while q_1 and q_2 learn"
    assert "`target.load_state_dict(online.state_dict())`" in finding.fix


@pytest.mark.parametrize(
    ("framework", "noun", "stop"),
    [("torch", "parameters", ".detach()"), ("tensorflow", "variables", "tf.stop_gradient")],
)
def test_target_in_optimizer(said, parameters, framework, noun, stop):
    facts = {"subjects": parameters("target"), "framework": framework, "optimizer": "opt"}
    trained = said("target-in-optimizer", **facts)
    assert trained.title == "opt trains target, a target network"
    assert trained.fix == f"leave target out of the {noun} that opt is given"
    untouched = said("target-in-optimizer", harmless=True, **facts)
    assert untouched.title == "opt is given target, a target network that gets no gradient"
    assert untouched.why.endswith(f"a single missing `{stop}` would let opt train target.")
    assert untouched.fix == trained.fix


def test_terminal_mask_names_the_mask(said):
    made = Site("/home/me/train.py", 30, "update", "mask = ~done  # uint8")
    finding = said("terminal-mask", "y = r + gamma * v * mask", mask=made)
    assert finding.why.startswith("The mask (`mask = ~done`, line 30) should keep or drop")
    here = Site("/home/me/train.py", 41, "update", "y = r + gamma * v * ~done")
    assert said("terminal-mask", site=here, mask=here).why.startswith("The mask should keep")


def test_zero_grad_missing_names_the_optimizer(said):
    step = Site("/home/me/train.py", 43)
    finding = said("zero-grad-missing", "loss.backward()", optimizer="actor_opt", step=step)
    assert finding.fix == "call `actor_opt.zero_grad()` in front of it"
    assert finding.why.startswith("The step (line 43) uses the gradients and leaves them there")


def test_zero_grad_before_step_says_where_to(said):
    elsewhere = Site("/home/me/agent.py", 9)
    finding = said(
        "zero-grad-before-step", "opt.zero_grad()", backward=Site("/home/me/train.py", 40), step=elsewhere
    )
    assert finding.title == "actor does not learn: gradients are cleared between backward and step"
    assert finding.why.startswith("`opt.zero_grad()` runs after the `backward` (line 40) and before")
    assert finding.fix == "move it above the `backward` (line 40), or below the `step()` (agent.py:9)"


def test_optimizer_recreated_moves_the_line_out(said):
    finding = said("optimizer-recreated", "opt = Adam(actor.parameters())", kind="Adam")
    assert finding.title == "actor is stepped by a new Adam in nearly every update: its moments are lost"
    assert finding.why.startswith("`opt = Adam(actor.parameters())` runs again and again")
    assert finding.fix == "make it once: move the line out of `update`, to where actor is made"
    assert said("optimizer-recreated", function="<module>").fix.endswith("above the loop")


def test_clip_to_nothing_says_how_much(said):
    finding = said("clip-to-nothing", threshold=1e-06, before=2.3, left=4.3e-07)
    assert finding.title == "clipping leaves 4.3e-05 % of the gradient"
    assert "The norm was 2.3, the threshold is 1e-06." in finding.why


def test_stacked_clips_name_the_other(said):
    assert "`clip_grad_norm_(p, 0.5)`" in said("clip-to-nothing", stacked="clip_grad_norm_(p, 0.5)").why


def test_polluted_gradient_warns_of_the_detach(said, parameters):
    own = Site("/home/me/train.py", 50)
    finding = said(
        "polluted-gradient", "actor_loss.backward()", parameters("critic"), optimizer="critic_opt", own=own
    )
    assert "critic is trained by another network's loss" in finding.title
    assert finding.fix == "call `critic_opt.zero_grad()` right before the `backward` (line 50)"
    assert ".detach()" in finding.avoid


@pytest.mark.parametrize(
    ("framework", "call", "list_of", "stop"),
    [
        ("torch", "autograd.grad", "parameters", ".detach()"),
        ("tensorflow", "tape.gradient", "variables", "tf.stop_gradient"),
    ],
)
def test_polluted_gradient_by_a_list_that_is_too_long(said, parameters, framework, call, list_of, stop):
    finding = said("polluted-gradient", subjects=parameters("critic"), framework=framework, asked=True)
    assert finding.title == "critic is trained to please another network's loss"
    assert f"`{call}` is asked for the {list_of} of critic as well" in finding.why
    assert finding.fix.startswith(f"ask `{call}`, for this loss, only for the {list_of} of the network")
    assert f"`{stop}`" in finding.avoid


def test_polluted_gradient_of_two_losses_in_one_call(said, parameters):
    finding = said("polluted-gradient", subjects=parameters("critic"), optimizer="opt", together=True)
    assert "One `backward` differentiates both losses" in finding.why
    assert "`opt.step()` applies both" in finding.why
    assert finding.fix.startswith("differentiate the losses apart, with an optimizer each")


STOPS = [("torch", "{}.detach()"), ("tensorflow", "tf.stop_gradient({})")]


@pytest.mark.parametrize(("framework", "stopped"), STOPS)
def test_advantage_uses_the_users_name(said, framework, stopped):
    loss = Site("/home/me/train.py", 44)
    finding = said("advantage-not-detached", "adv = returns - v", framework=framework, loss=loss)
    assert finding.fix == f"use `{stopped.format('adv')}` in the policy loss (line 44)"
    elsewhere = Site("/home/me/losses.py", 9)
    assert said("advantage-not-detached", loss=elsewhere).fix.endswith("in the policy loss (losses.py:9)")


@pytest.mark.parametrize(("framework", "stopped"), STOPS)
def test_the_ratio_of_a_policy_with_itself(said, framework, stopped):
    finding = said("cancelled-gradient", framework=framework, ratio=True)
    assert finding.title == "the ratio compares actor with itself: the gradient cancels"
    assert f"`{stopped.format('old')}`" in finding.fix


@pytest.mark.parametrize(
    ("framework", "fix"),
    [
        ("torch", "draw with `sample()` instead of `rsample()`, or score `action.detach()`"),
        ("tensorflow", "draw with `tf.stop_gradient(dist.sample())`, or score `tf.stop_gradient(action)`"),
    ],
)
def test_the_score_of_a_sample_that_moves_along(said, framework, fix):
    finding = said("cancelled-gradient", framework=framework)
    assert "scored sample" in finding.title
    assert finding.fix == fix


@pytest.mark.parametrize("made_of", [Made.REWARDS, Made.ACTIONS, None])
@pytest.mark.parametrize(("framework", "mean"), [("torch", ".mean()`"), ("tensorflow", "`-tf.reduce_mean(")])
def test_surrogate_missing_writes_the_loss(said, framework, mean, made_of):
    finding = said("surrogate-missing", framework=framework, made_of=made_of)
    assert f"the loss is made of {made_of or 'rewards or drawn actions'}, without" in finding.title
    assert finding.why.lower().startswith(f"{made_of or 'rewards or drawn actions'} are not differentiable")
    assert mean in finding.fix and "log_prob" in finding.fix
    assert finding.avoid


def test_a_probability_is_told_apart_from_what_has_no_gradient(said):
    finding = said("surrogate-missing", made_of=Made.PROBABILITIES)
    assert finding.title == "actor learns from probabilities: the logarithm is missing"
    assert "log_prob" in finding.fix


def test_value_sign_quotes_the_loss(said, parameters):
    finding = said("value-sign", "loss = q.mean()")
    assert finding.title == "actor descends on its own objective: a minus is missing"
    assert finding.why.startswith("`loss = q.mean()` grows")
    both = (*parameters("actor"), *parameters("head"))
    assert said("value-sign", subjects=both).title.startswith("actor and head descend on their own")


def test_unused_in_ddp(said, parameters):
    stopped = Site("/home/me/train.py", 60)
    left_out = said("unused-in-ddp", subjects=parameters("value"), sometimes=True, stopped=stopped)
    assert left_out.title == "value has no part in the last loss, and DDP waits for it"
    assert left_out.why.endswith("ranks wait for it (line 60).")
    never = said("unused-in-ddp", subjects=(*parameters("a"), *parameters("b")))
    assert never.fix.startswith("put what a and b compute into the loss, or leave them out")
    assert "`find_unused_parameters=True`" in never.avoid
