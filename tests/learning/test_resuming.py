"""Killed and resumed: nothing is lost but the steps since the checkpoint."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.choosing import mostly_long
from tests.learning.loading import AGENTS, trained, weights

SETTINGS = {
    "dqn": (4_000, 1_500),
    "ppo": (5_000, 1_500),
    "reinforce": (8_000, 2_000),
    "dqn_keras": (8_000, 1_500),
}


def command(name, steps, every, checkpoint, save):
    script = str(AGENTS / f"{name}.py")
    files = ["--checkpoint", str(checkpoint), "--checkpoint-every", str(every), "--save", str(save)]
    return [sys.executable, script, "--steps", str(steps), "--eval-episodes", "0", *files]


@pytest.mark.parametrize("name", mostly_long(SETTINGS, "dqn".__eq__))
def test_killed_and_resumed_is_as_if_it_had_never_been_killed(name, tmp_path):
    steps, every = SETTINGS[name]
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    subprocess.run(command(name, steps, every, tmp_path / "a.npz", whole), check=True, capture_output=True)

    checkpoint = tmp_path / "b.npz"
    victim = subprocess.Popen(command(name, steps, every, checkpoint, parts), stderr=subprocess.DEVNULL)
    while not checkpoint.exists() and victim.poll() is None:
        time.sleep(0.01)
    os.kill(victim.pid, signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL, "it was done before it could be killed"
    assert not parts.exists()

    again = subprocess.run(
        command(name, steps, every, checkpoint, parts), check=True, capture_output=True, text=True
    )
    assert "going on from step" in again.stderr
    with np.load(whole) as first, np.load(parts) as second:
        assert set(first) == set(second)
        assert all(np.array_equal(first[key], second[key]) for key in first)


def test_the_state_of_ddpg_comes_back_whole():
    first = trained("ddpg", 1_200)
    state = first.state()
    second = trained("ddpg", 0)
    second.restore(state)
    assert second.step == 1_200
    assert [row[:2] for row in second.curve] == [row[:2] for row in first.curve]  # the loss may be nan
    assert all(np.array_equal(state[key], weights(second)[key]) for key in weights(second))
    assert second.rng.random() == first.rng.random()


def test_a_file_with_a_pickle_in_it_is_refused(tmp_path):
    np.savez(tmp_path / "evil.npz", weight=np.array([{"a": 1}], dtype=object))
    script = [sys.executable, str(AGENTS / "dqn.py"), "--steps", "10", "--load", str(tmp_path / "evil.npz")]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot be read" in done.stderr and "Traceback" not in done.stderr
