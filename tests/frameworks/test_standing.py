"""Do weights that nobody trains stay what they were, also where they have died before anybody asks?"""

import gc

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from whygrad.frameworks.protocol import Setup  # noqa: E402
from whygrad.frameworks.torch.backend import TorchBackend  # noqa: E402


@pytest.fixture
def moved():
    """Runs a function under observation; whether the target network has moved, as far as is known then."""

    def run(program):
        backend = TorchBackend()
        backend.attach(Setup())
        try:
            program()
            known = backend.observe().evidence.parameters.values()
            return [p.moved for p in known if p.network == "target"]
        finally:
            backend.detach()

    return run


def train(online, target, updates, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(online.parameters(), lr=0.1)
    for _ in range(updates):
        goal = 1 + 0.9 * target(torch.randn(4, 3)).detach()
        optimizer.zero_grad()
        (online(torch.randn(4, 3)) - goal).pow(2).mean().backward()
        optimizer.step()
    return optimizer


def test_locals_that_stood_still(moved):
    def program():
        online, target = nn.Linear(3, 1), nn.Linear(3, 1)
        train(online, target, 30)

    assert moved(program) == [False, False]


def test_values_that_are_set_before_the_first_step_are_the_first_ones(moved):
    def program():
        online, target = nn.Linear(3, 1), nn.Linear(3, 1)
        target(torch.randn(1, 3))
        target.weight.data.normal_(0, 0.1)
        target.load_state_dict(online.state_dict())
        train(online, target, 10)

    assert moved(program) == [False, False]


@pytest.mark.parametrize("updates", [3, 40, 130])
def test_a_sync_behind_the_last_step_is_seen_when_they_die(moved, updates):
    def program():
        online, target = nn.Linear(3, 1), nn.Linear(3, 1)
        train(online, target, updates)
        for old, new in zip(target.parameters(), online.parameters(), strict=True):
            old.data = 0.5 * old.data + 0.5 * new.data

    assert moved(program) == [True, True]


def test_one_that_another_took_the_place_of_is_not_judged(moved):
    def program():
        online, target = nn.Linear(3, 1), nn.Linear(3, 1)
        optimizer = train(online, target, 10)
        target = nn.Linear(3, 1)
        train(online, target, 10, optimizer)

    assert moved(program) == [True, True]


def test_one_agent_after_the_other(moved):
    def program():
        for _ in range(2):
            online, target = nn.Linear(3, 1), nn.Linear(3, 1)
            train(online, target, 10)
            del online, target

    assert moved(program) == [False] * 4


def test_in_a_cycle_the_last_look_decides(moved):
    class Agent:
        def __init__(self):
            self.online, self.target, self.me = nn.Linear(3, 1), nn.Linear(3, 1), self

    def program():
        agent = Agent()
        target = agent.target
        train(agent.online, target, 40)
        del agent, target
        gc.collect()

    assert moved(program) == [False, False]
