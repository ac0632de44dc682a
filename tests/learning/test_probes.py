"""The probes name the part that is broken; a healthy agent solves them all."""

from __future__ import annotations

import pytest
from tests.choosing import mostly_long
from tests.learning.loading import AGENTS, script, whygrad

TABULAR = '''
import random

import gymnasium as gym


class Tabular:
    """Q-learning in a table, with one thing wrong on demand."""

    gamma = 0.5

    def __init__(self, env, seed, bug):
        self.env, self.random, self.bug, self.table = gym.make(env), random.Random(seed), bug, {}

    def row(self, observation):
        key = 0 if self.bug == "blind" else round(float(observation[0]))
        return self.table.setdefault(key, [0.0, 0.0])

    def act(self, observation):
        row = self.row(observation)
        return int(row[1] > row[0]) if self.bug != "worst" else int(row[1] < row[0])

    def value(self, observation):
        return max(self.row(observation))

    def learn(self, steps):
        over = True
        for _ in range(steps):
            if over:
                seen, _ = self.env.reset()
            explore = self.random.random() < 0.3 and self.bug != "greedy"
            action = self.random.randrange(2) if explore else (0 if self.bug == "greedy" else self.act(seen))
            after, reward, over, _, _ = self.env.step(action)
            later = max(self.row(after)) if not over or self.bug == "endless" else 0.0
            later *= {"shortsighted": 0.0, "undiscounted": 1.0}.get(self.bug, self.gamma)
            row = self.row(seen)
            row[action] += (0.0 if self.bug == "numb" else 0.2) * (reward + later - row[action])
            seen = after


def make_agent(env, seed):
    return Tabular(env, seed, "BUG")
'''

BROKEN = {
    "numb": "value loss: not even a constant",
    "blind": "value loss: the observation does not reach the value",
    "endless": "bootstrapping: the end of an episode is not the end",
    "shortsighted": "bootstrapping: nothing of the next step's value arrives",
    "undiscounted": "bootstrapping: the next step's value is not discounted",
    "greedy": "exploration",
    "worst": "policy gradient",
}


def _asked(bug):
    probes = script("envs/probes")
    space = {"__name__": "probed"}
    exec(TABULAR.replace("BUG", bug), space)
    return list(probes["examine"](space["make_agent"]))


def test_a_healthy_agent_solves_them_all():
    assert [answer.passed for answer in _asked("none")] == [True] * 5


@pytest.mark.parametrize("bug", [bug for bug in BROKEN if bug != "endless"])
def test_the_first_that_fails_names_the_part(bug):
    first = next(answer for answer in _asked(bug) if not answer.passed)
    assert first.part.startswith(BROKEN[bug])


def test_an_agent_that_goes_on_after_the_end_expects_too_much():
    """Already the first probe fails, for the value grows beyond its reward; the third one says why."""
    answers = {answer.probe: answer for answer in _asked("endless")}
    assert not answers["value"].passed and not answers["discount"].passed
    assert answers["discount"].part.startswith(BROKEN["endless"])


def test_a_script_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text(TABULAR.replace("BUG", "shortsighted"))
    done = whygrad("probe", "mine.py:make_agent", cwd=tmp_path)
    assert done.returncode == 1
    assert "FAILED  two steps" in done.stdout
    assert "broken: bootstrapping: nothing of the next step's value arrives" in done.stdout


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nothing.py:make_agent", "there is no file 'nothing.py'"),
        ("empty.py:make_agent", "has no function make_agent(env, seed)"),
        ("dqm", "did you mean dqn?"),
        ("syntax.py", "cannot be loaded: SyntaxError"),
        ("fails.py", "failed while it was asked: ValueError: no"),
    ],
)
def test_wrong_use_is_one_sentence(what, said, tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "syntax.py").write_text("x = = 1\n")
    (tmp_path / "fails.py").write_text("def make_agent(env, seed):\n    raise ValueError('no')\n")
    done = whygrad("probe", what, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", mostly_long(["ppo", "ddpg"], "ppo".__eq__))
def test_ours_are_whole(name):
    """One with discrete and one with continuous actions; the others are asked by hand: whygrad probe NAME."""
    probes = script("envs/probes")
    assert all(answer.passed for answer in probes["examine"](script(name)["make_agent"])), AGENTS
