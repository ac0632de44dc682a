"""The agents learn. Short versions with fixed seeds; the long ones are benchmarks/agents.py --learning."""

from __future__ import annotations

import numpy as np
import pytest
from tests.choosing import mostly_long
from tests.learning.loading import script, trained, weights, whygrad

SHORT = [
    ("dqn", 12_000, 200.0),
    ("ppo", 50_000, 475.0),
    ("reinforce", 100_000, 400.0),
    ("ddpg", 7_000, -200.0),
    ("dqn_keras", 50_000, 475.0),
    ("ppo_jax", 50_000, 475.0),
]


@pytest.mark.parametrize(
    ("name", "steps", "enough"),
    mostly_long(SHORT, lambda row: row[0] == "dqn"),
    ids=[row[0] for row in SHORT],
)
def test_it_learns(name, steps, enough):
    agent = trained(name, steps, "--seed", "1")
    returns = script(name)["evaluate"](agent, 20, seed=10_001)
    assert np.mean(returns) >= enough


@pytest.mark.long
def test_tf_agents_learns_on_its_small_environment(tmp_path):
    """In a process of its own: TF-Agents wants another Keras."""
    done = whygrad(
        *(
            "train",
            "dqn_tf_agents",
            "--env",
            "line",
            "--steps",
            "1500",
            "--learning-starts",
            "300",
            "--train-every",
            "50",
        ),
        *("--gradient-steps", "50", "--hidden", "32", "--eval-episodes", "5", "--summaries", tmp_path / "tb"),
        cwd=tmp_path,
    )
    assert "mean return 1.0 over 5 episodes" in done.stdout, done.stderr
    assert "healthy" in done.stderr
    assert "error[" not in done.stderr and "warning[" not in done.stderr
    tags = _tags(tmp_path / "tb")
    assert any("gradients/raw/" in tag for tag in tags)
    assert any("gradients/clipped/" in tag for tag in tags)


def _tags(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return events.Tags()["tensors"] + events.Tags()["scalars"]


@pytest.mark.parametrize("name", mostly_long([row[0] for row in SHORT], "dqn".__eq__))
def test_same_seed_same_result(name):
    first, second = (weights(trained(name, 2_000, "--seed", "3")) for _ in range(2))
    assert all(np.array_equal(first[key], second[key]) for key in first)
    other = weights(trained(name, 2_000, "--seed", "4"))
    assert not all(
        first[key].shape == other[key].shape and np.array_equal(first[key], other[key]) for key in first
    )


@pytest.mark.long
def test_every_seed_learns_by_itself():
    """What stands beside it in the same call changes nothing."""
    both, second = (
        trained("ppo_jax", 2_000, "--seeds", "2"),
        trained("ppo_jax", 2_000, "--seed", "2", "--seeds", "1"),
    )
    beside, alone = both.weights(1), second.weights()
    assert all(np.allclose(beside[key], alone[key], atol=1e-5) for key in alone)
    assert not np.allclose(both.weights(0)["policy/0/weight"], alone["policy/0/weight"])


def test_a_modified_actor_stays_trained():
    before = weights(trained("ddpg", 1_000, "--actor", "deeper", "--learning-starts", "5000"))
    after = weights(trained("ddpg", 1_500, "--actor", "deeper"))
    moved = [key for key in after if key.startswith("actor/") and not np.array_equal(before[key], after[key])]
    assert len(moved) == 9  # two variables of each of four layers, and the factor of the own layer
