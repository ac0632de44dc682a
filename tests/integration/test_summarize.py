"""``whygrad summarize`` on files that other tools have really written."""

import math
import random

import pytest
import torch
from tests.events import load
from torch.utils.tensorboard import SummaryWriter

from whygrad.cli.main import main
from whygrad.summaries import interpreting, reading


def said(capsys, folder):
    code = main(["summarize", str(folder)])
    return code, capsys.readouterr().out


def test_torchs_summary_writer(tmp_path, capsys):
    writer = SummaryWriter(str(tmp_path))
    random.seed(0)
    for step in range(60):
        writer.add_scalar("losses/td_loss", 1 / (1 + step) + random.random() / 10, step)
        writer.add_scalar("gradients/fine_norm", 1 + random.random(), step)
        writer.add_scalar("gradients/first_layer_norm", 10.0 ** (-step / 10), step)
        writer.add_scalar("gradients/last_layer_norm", 10.0 ** (step / 10), step)
        writer.add_scalar("grad/log_std", 0.0, step)
        writer.add_scalar("losses/alpha_loss", math.nan if step > 40 else 1.0 - step / 100, step)
        writer.add_scalar("losses/entropy_loss", 0.6931, step)
        writer.add_histogram("gradients/dead", torch.zeros(10), step)
        writer.add_scalar("charts/episodic_return", math.nan, step)  # neither a loss nor a gradient
    writer.close()
    code, text = said(capsys, tmp_path)
    assert code == 1
    found = {(r.what, r.tag) for run in reading.curves(tmp_path).values() for r in interpreting.remarks(run)}
    assert found == {
        ("vanishing", "gradients/first_layer_norm"),
        ("exploding", "gradients/last_layer_norm"),
        ("zero-gradient", "grad/log_std"),
        ("zero-gradient", "gradients/dead"),
        ("non-finite", "losses/alpha_loss"),
        ("stalled", "losses/entropy_loss"),
    }
    assert "losses/alpha_loss: NaN or Inf at step 41, 19 times in all" in text
    assert "60 series" not in text and "up to step 59" in text


def test_our_reader_reads_what_tensorboard_reads(tmp_path):
    writer = SummaryWriter(str(tmp_path))
    for step in range(30):
        writer.add_scalar("a/loss", math.sin(step), step)
    writer.close()
    (run,) = reading.curves(tmp_path).values()
    events = load(tmp_path).Scalars("a/loss")
    assert run["a/loss"].steps == [e.step for e in events]
    assert run["a/loss"].values == pytest.approx([e.value for e in events])


def test_stable_baselines3(tmp_path, capsys):
    gymnasium = pytest.importorskip("gymnasium")
    sb3 = pytest.importorskip("stable_baselines3")
    model = sb3.DQN(
        "MlpPolicy",
        gymnasium.make("CartPole-v1"),
        tensorboard_log=str(tmp_path),
        learning_starts=50,
        policy_kwargs={"net_arch": [8]},
        seed=0,
    )
    model.learn(400, log_interval=1)
    code, text = said(capsys, tmp_path)
    assert code == 0, text
    assert "the losses look healthy; gradients were not written" in text
    assert "DQN_1: " in text


def test_files_that_are_none(tmp_path, capsys):
    assert main(["summarize", str(tmp_path)]) == 2
    assert "there are no event files" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["summarize", str(tmp_path / "nowhere")])
    assert ended.value.code == 2
    (tmp_path / "events.out.tfevents.1").write_bytes(b"this is not an event file, whatever its name says")
    assert main(["summarize", str(tmp_path)]) == 0


AGENT = """
import numpy as np, tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import q_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts, trajectory
from tf_agents.utils import common

observation = tensor_spec.TensorSpec((4,), tf.float32)
action = tensor_spec.BoundedTensorSpec((), tf.int32, 0, 1)
for name, clip in (("healthy", None), ("dead", 1e-30)):
    tf.random.set_seed(0)
    counter = tf.Variable(0, dtype=tf.int64)
    agent = dqn_agent.DqnAgent(
        ts.time_step_spec(observation), action, optimizer=tf.keras.optimizers.Adam(0.001),
        q_network=q_network.QNetwork(observation, action, fc_layer_params=(8,)),
        td_errors_loss_fn=common.element_wise_squared_loss, gradient_clipping=clip,
        summarize_grads_and_vars=True, train_step_counter=counter,
    )
    agent.initialize()
    with tf.summary.create_file_writer(name).as_default():
        with tf.summary.record_if(True):
            for _ in range(30):
                zeros = tf.zeros((8, 2))
                agent.train(trajectory.Trajectory(
                    step_type=tf.ones((8, 2), tf.int32), observation=tf.random.normal((8, 2, 4)),
                    action=tf.random.uniform((8, 2), 0, 2, tf.int32), policy_info=(),
                    next_step_type=tf.ones((8, 2), tf.int32), reward=zeros + 1.0, discount=zeros + 0.9,
                ))
"""


@pytest.mark.tensorflow
@pytest.mark.long
def test_tf_agents(lab, capsys):
    lab.env["TF_USE_LEGACY_KERAS"] = "1"
    lab.write(AGENT)
    done = lab.python("train.py")
    assert done.code == 0, done.stderr[-2000:]
    code, text = said(capsys, lab.folder / "healthy")
    assert (code, "gradients and losses look healthy" in text) == (0, True), text
    code, text = said(capsys, lab.folder / "dead")
    assert code == 1
    assert "vanishing" in text or "zero-gradient" in text
