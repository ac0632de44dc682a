"""``whygrad train``: the list, a copy, a training with its curve, and wrong use."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.learning.loading import AGENTS, whygrad

from whygrad.cli import curve
from whygrad.zoo import catalogue as shelf

SHORT = ("--steps", "1500", "--eval-episodes", "2", "--train-every", "64", "--gradient-steps", "16")


def test_without_a_name_they_are_listed_with_what_they_say_of_themselves(tmp_path):
    done = whygrad("train", cwd=tmp_path)
    assert done.returncode == 0
    for name in ("dqn", "ppo", "reinforce", "ddpg", "dqn_keras", "dqn_tf_agents", "ppo_jax"):
        assert f"  {name} " in done.stdout and shelf.agent(name).line in done.stdout


def test_a_new_script_is_on_the_shelf_at_once(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text('"""Mine: as simple as can be."""\n')
    (tmp_path / "_helper.py").write_text('"""Not an agent."""\n')
    monkeypatch.setattr(shelf, "HERE", tmp_path)
    assert list(shelf.agents()) == ["mine"]
    assert not shelf.agent("mine").knows("--curve")


def test_a_training_ends_with_evaluation_diagnosis_and_curve(tmp_path):
    done = whygrad("train", "dqn", *SHORT, "--seed", "2", "--save", "w.npz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "evaluation: mean return" in done.stdout
    assert "whygrad: healthy" in done.stderr
    assert " of 1,500  return " in done.stderr and "updates/s" in done.stderr
    folder = next((tmp_path / "runs").glob("dqn-*"))
    assert json.loads((folder / "report.json").read_text())["findings"] == []
    from PIL import Image

    with Image.open(folder / "curve.png") as picture:
        assert picture.format == "PNG" and picture.size == (900, 450)
    again = whygrad("train", "dqn", "--steps", "0", "--load", "w.npz", "--eval-episodes", "1", cwd=tmp_path)
    assert "evaluation: mean return" in again.stdout
    other = whygrad("train", "dqn", "--steps", "0", "--load", "w.npz", "--hidden", "8", cwd=tmp_path)
    assert "belong to another network" in other.stderr and "Traceback" not in other.stderr


def test_a_copy_is_the_same_file_and_overwrites_nothing(tmp_path):
    assert whygrad("train", "ppo", "--copy", "mine.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "mine.py").read_text() == (AGENTS / "ppo.py").read_text()
    again = whygrad("train", "ppo", "--copy", "mine.py", cwd=tmp_path)
    assert again.returncode == 2 and "already there" in again.stderr


def test_the_beginning_of_a_name_is_enough(tmp_path):
    assert whygrad("train", "snake", "--copy", "mine.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "mine.py").read_text() == (AGENTS / "snake_dqn.py").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dqm"], "there is no agent 'dqm': did you mean dqn?"),
        (["dqn", "--break", "nonsense"], "dqn cannot be broken by 'nonsense'"),
        (["--steps=5"], "name the agent first: whygrad train AGENT --steps=5"),
    ],
)
def test_wrong_use_is_one_sentence(words, said, tmp_path):
    done = whygrad("train", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr


def test_an_agents_own_options_are_shown(tmp_path):
    done = whygrad("train", "dqn", "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "--break RULE" in done.stdout and "--gradient-steps" in done.stdout


def test_agents_run_without_whygrad(tmp_path):
    code = "import sys; sys.modules['whygrad'] = None; import runpy; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    words = [sys.executable, "-c", code, str(AGENTS / "dqn.py"), *SHORT]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_curve_of_too_few_episodes_is_no_picture(tmp_path):
    table = tmp_path / "curve.csv"
    table.write_text("step,return,loss\n10,5,nan\n")
    assert "too few" in curve.draw(table, tmp_path / "curve.png")
    assert not (tmp_path / "curve.png").exists()


def test_the_mean_of_a_curve():
    assert curve.smoothed([(1, 0.0), (2, 2.0), (3, 4.0)], window=2) == [(1, 0.0), (2, 1.0), (3, 3.0)]
    assert curve.ticks(0, 10) == [0, 2, 4, 6, 8, 10]
