"""Probe environments: each is solved in seconds, and fails for one reason only.

Five questions, each for discrete and for continuous actions. The names are gymnasium's:
`whygrad train dqn --env whygrad.zoo.agents.envs.probes:ProbeDiscount-v0`. `examine` asks them in turn.

An agent that can be asked comes from a function `make_agent(env, seed)` and has
    learn(steps)        train for that many environment steps
    act(observation)    the action without exploration
    value(observation)  what it expects from here on; may be missing
    gamma               its discount; 0.99 if it has none
`make_agent.continuous = True` says that it wants continuous actions.
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np

STEPS = 3_000
TRIED = {}  # the actions that each environment has seen, by its name


class Probe(gym.Env):
    """One or two steps, one number to look at, one reward."""

    def __init__(self, name, continuous, length=1):
        self.name, self.length = name, length
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = (
            gym.spaces.Box(-1.0, 1.0, (1,), np.float32) if continuous else gym.spaces.Discrete(2)
        )
        self.continuous = continuous

    def reset(self, *, seed=None, options=None):
        """What is seen first."""
        super().reset(seed=seed)
        self.time, self.seen = 0, self.first()
        return np.array([self.seen], np.float32), {}

    def step(self, action):
        """A reward at the end."""
        number = float(np.asarray(action).reshape(-1)[0])
        tried = TRIED.setdefault(self.name, [])
        tried.append(number)
        self.time += 1
        over = self.time == self.length
        reward = self.reward(number) if over else 0.0
        self.seen = 1.0 if not over else self.seen
        return np.array([self.seen], np.float32), reward, over, False, {}

    def first(self):
        """Nothing to see, unless a probe says otherwise."""
        return 0.0

    def reward(self, action):
        """One, unless a probe says otherwise."""
        return 1.0

    def drawn(self):
        """Plus or minus one."""
        return 1.0 if self.np_random.random() < 0.5 else -1.0


class Value(Probe):
    """Nothing to see, nothing to choose, a reward of one."""


class Observation(Probe):
    """The reward is what is seen."""

    def first(self):
        """Plus or minus one."""
        return self.drawn()

    def reward(self, action):
        """What was seen."""
        return self.seen


class Discount(Probe):
    """Two steps, and the reward comes after the second."""


class Action(Probe):
    """Nothing to see; one action is good and the other is not."""

    def reward(self, action):
        """Plus one for the second action, minus one for the first; or near one half."""
        return 1.0 - 4.0 * (action - 0.5) ** 2 if self.continuous else (1.0 if action == 1 else -1.0)


class Both(Probe):
    """What is seen says which action is good."""

    def first(self):
        """Plus or minus one."""
        return self.drawn()

    def reward(self, action):
        """For the action that the observation names."""
        if self.continuous:
            return 1.0 - (action - 0.5 * self.seen) ** 2 * 4.0
        return 1.0 if (action == 1) == (self.seen > 0) else -1.0


PROBES = {"Value": (Value, 1), "Observation": (Observation, 1), "Discount": (Discount, 2)}
PROBES |= {"Action": (Action, 1), "Both": (Both, 1)}


def make(name, continuous):
    """One probe, by name."""
    kind, length = PROBES[name]
    return kind(env_id(name, continuous), continuous, length)


def env_id(name, continuous):
    """As gymnasium calls it."""
    return f"Probe{name}{'Continuous' if continuous else ''}-v0"


for _name in PROBES:
    for _continuous in (False, True):
        if env_id(_name, _continuous) not in gym.registry:
            gym.register(
                env_id(_name, _continuous),
                entry_point=lambda name=_name, continuous=_continuous: make(name, continuous),
            )


@dataclass
class Answer:
    """How one probe went; ``part`` is what is broken, if something is."""

    probe: str
    asked: str
    passed: bool
    found: str
    part: str = ""


def examine(make_agent, seed=1, steps=STEPS):
    """Ask all probes; yields an answer after each."""
    continuous = getattr(make_agent, "continuous", False)
    for name, question in QUESTIONS.items():
        env = env_id(name, continuous)
        TRIED.pop(env, None)
        agent = make_agent(env, seed)
        agent.learn(steps)
        yield question(agent, TRIED.get(env, []), continuous)


def see(number):
    """An observation."""
    return np.array([number], np.float32)


def close(found, wanted):
    """Near enough for a network that was trained for seconds."""
    return abs(found - wanted) < 0.2


def value_only(agent, tried, continuous):
    """Does it learn the one number there is?"""
    asked = "value only: every episode gives 1"
    if not hasattr(agent, "value"):
        return Answer("value", asked, True, "it has no value to ask for")
    found = agent.value(see(0))
    said = f"it expects {found:.2f}, and it is 1"
    return Answer("value", asked, close(found, 1), said, "value loss: not even a constant is learned")


def observation_value(agent, tried, continuous):
    """Does the value depend on what is seen?"""
    asked = "value of an observation: it gives what is seen, 1 or -1"
    if not hasattr(agent, "value"):
        return Answer("observation", asked, True, "it has no value to ask for")
    good, bad = agent.value(see(1)), agent.value(see(-1))
    said = f"it expects {good:.2f} for 1 and {bad:.2f} for -1"
    part = "value loss: the observation does not reach the value, or rows of a batch are mixed up"
    part = part if explored(tried) else blame(tried)
    return Answer("observation", asked, close(good, 1) and close(bad, -1), said, part)


def discounting(agent, tried, continuous):
    """Does the value of the second step come to the first?"""
    gamma = getattr(agent, "gamma", 0.99)
    asked = f"two steps: 1 comes after the second, so the first is worth {gamma:g}"
    if not hasattr(agent, "value"):
        return Answer("discount", asked, True, "it has no value to ask for")
    first, second = agent.value(see(0)), agent.value(see(1))
    said = f"it expects {first:.2f} at first and {second:.2f} before the end"
    part = "bootstrapping: the value of the next step is not what the first one learns"
    if second > 1.2:
        part = "bootstrapping: the end of an episode is not the end (the 1 - terminated mask)"
    elif close(first, 0) and not close(gamma, 0):
        part = "bootstrapping: nothing of the next step's value arrives"
    elif close(first, 1) and not close(gamma, 1):
        part = "bootstrapping: the next step's value is not discounted"
    return Answer("discount", asked, close(first, gamma) and close(second, 1), said, part)


def action_choice(agent, tried, continuous):
    """Does it find the good action?"""
    wanted = 0.5 if continuous else 1
    asked = f"choice: {'the best action is 0.5' if continuous else 'action 1 is good, action 0 is bad'}"
    found = number(agent.act(see(0)))
    return Answer("action", asked, close(found, wanted), f"it takes {found:g}", blame(tried))


def observed_action(agent, tried, continuous):
    """Does the choice depend on what is seen?"""
    wanted = (0.5, -0.5) if continuous else (1, 0)
    asked = f"choice by observation: {wanted[0]:g} is good after 1, {wanted[1]:g} after -1"
    good, bad = number(agent.act(see(1))), number(agent.act(see(-1)))
    passed = close(good, wanted[0]) and close(bad, wanted[1])
    said = f"it takes {good:g} after 1 and {bad:g} after -1"
    return Answer("both", asked, passed, said, blame(tried, ": the observation does not decide the action"))


def number(action):
    """An action as a plain number."""
    return float(np.asarray(action).reshape(-1)[0])


def blame(tried, otherwise=": the better action does not become likelier"):
    """What is broken, if the wrong action is taken."""
    if not explored(tried):
        return f"exploration: {len(tried):,} steps, and all with the same action"
    return f"policy gradient{otherwise}"


def explored(tried):
    """Was there more than one action?"""
    return not len(tried) or np.ptp(tried) >= 1e-3


QUESTIONS = {
    "Value": value_only,
    "Observation": observation_value,
    "Discount": discounting,
    "Action": action_choice,
    "Both": observed_action,
}
