"""The pytest fixture ``gradients``."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

INSTALLED = any(point.name == "whygrad" for point in entry_points(group="pytest11"))
PLUGIN = [] if INSTALLED else ["-p", "whygrad.pytest_plugin"]

SUITE = """
import pytest, torch
from torch import nn
from state import state_of_the_process

before = []

@pytest.fixture
def actor():
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))

critic = nn.Linear(5, 1)

def loss_of(action):
    return -critic(torch.cat([torch.ones(4, 3), action], 1)).mean()

def test_before():
    before.append(state_of_the_process())

def test_flows(gradients, actor):
    gradients.assert_flow(loss_of(actor(torch.ones(4, 3))), actor)
    assert gradients.explain(loss_of(actor(torch.ones(4, 3))), actor) == ()

def test_cut(actor, gradients):
    action = actor(torch.ones(4, 3)).detach()
    gradients.assert_flow(loss_of(action), actor)

def test_raises(gradients):
    assert state_of_the_process() != before[0]
    raise ValueError("mine")

def test_after():
    assert state_of_the_process() == before[0]
"""


def run(folder, *more):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *PLUGIN,
        *more,
        "test_suite.py",
    ]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {"COLUMNS": "120"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_the_fixture_records_fails_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "state.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tmp_path / "test_suite.py").write_text(SUITE)
    done = run(tmp_path)
    assert "2 failed, 3 passed" in done.stdout, done.stdout
    assert "this loss gives no gradient to actor.0, actor.2 (4 parameters)" in done.stdout
    assert "cut by .detach()" in done.stdout and "test_suite.py:25, in test_cut" in done.stdout
    assert "ValueError: mine" in done.stdout
    # pytest points at the line of the test, not into whygrad
    assert "pytest_plugin.py" not in done.stdout and "asking.py" not in done.stdout


def test_a_suite_without_the_fixture_imports_nothing_of_ours(tmp_path):
    (tmp_path / "test_suite.py").write_text(
        "import sys\n\ndef test_light():\n"
        "    assert {m for m in sys.modules if m.startswith('whygrad')} <= {'whygrad', 'whygrad.pytest_plugin'}\n"
        "    assert 'torch' not in sys.modules\n"
    )
    done = run(tmp_path)
    assert "1 passed" in done.stdout, done.stdout
