"""The agents as scripts: run by path, never imported."""

from __future__ import annotations

import functools
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGENTS = ROOT / "src" / "whygrad" / "zoo" / "agents"
CLASSES = {
    "dqn": "DQN",
    "ppo": "PPO",
    "reinforce": "Reinforce",
    "ddpg": "DDPG",
    "dqn_keras": "DQN",
    "ppo_jax": "PPO",
}


@functools.cache
def script(name):
    return runpy.run_path(str(AGENTS / f"{name}.py"), run_name="agent")


def trained(name, steps, *args):
    """An agent of this name after that many steps."""
    if name == "ppo_jax":
        pytest.importorskip("jax"), pytest.importorskip("optax")
    parts = script(name)
    agent = parts[CLASSES[name]](parts["arguments"](["--steps", str(steps), *args]))
    agent.learn(steps)
    return agent


def weights(agent):
    """What was learnt; with all that the rest of the training depends on, if the agent can tell."""
    arrays = agent.state() if hasattr(agent, "state") else agent.weights()
    return {k: v for k, v in arrays.items() if k != "told"}


def whygrad(*words, cwd):
    env = os.environ | {
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "COLUMNS": "110",
    }
    command = [sys.executable, "-m", "whygrad", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
