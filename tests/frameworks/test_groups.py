"""What the torch backend counts of groups of rewards, however their mean is taken away."""

import pytest
import torch
from torch import nn

PROMPTS, GROUP = 3, 4


def keepdim(rewards):
    rewards = rewards.view(PROMPTS, GROUP)
    return (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)


def repeated(rewards):
    mean = rewards.view(-1, GROUP).mean(dim=1)
    return rewards - mean.repeat_interleave(GROUP, dim=0)


def widened(rewards):
    rewards = rewards.reshape(PROMPTS, GROUP)
    return rewards - rewards.mean(dim=-1).unsqueeze(-1)


def across(rewards):
    rewards = rewards.view(PROMPTS, GROUP).t()
    return (rewards - rewards.mean(0)).t()


def one_by_one(rewards):
    return torch.cat([part - part.mean() for part in rewards.split(GROUP)])


def counted(recorded, advantage, rewards, updates=2):
    net = nn.Linear(2, 5)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with recorded() as seen:
        for _ in range(updates):
            score = torch.log_softmax(net(torch.randn(PROMPTS * GROUP, 2)), 1)[:, 0]
            optimizer.zero_grad()
            (-score * advantage(rewards.clone()).reshape(-1)).mean().backward()
            optimizer.step()
    flow = seen.evidence.updates[-1].backwards[-1].flow
    return [op.groups for op in flow.ops.values() if op.groups]


@pytest.mark.parametrize("advantage", [keepdim, repeated, widened, across])
def test_groups_without_spread_are_counted(recorded, advantage):
    rewards = torch.tensor([0.1] * 4 + [0.3] * 4 + [0.0, 1.0, 0.0, 0.0])
    assert counted(recorded, advantage, rewards) == [(2, 3)]


def test_groups_one_by_one(recorded):
    rewards = torch.tensor([0.1] * 4 + [0.3] * 4 + [0.0, 1.0, 0.0, 0.0])
    assert sorted(counted(recorded, one_by_one, rewards)) == [(0, 1), (1, 1), (1, 1)]


def test_what_rounding_leaves_is_no_spread(recorded):
    rewards = torch.tensor([0.1, 0.1 + 1e-8, 0.1, 0.1] + [float("nan")] * 4 + [0.0] * 4)
    assert counted(recorded, keepdim, rewards) == [(2, 3)]


def test_another_mean_is_no_group(recorded):
    assert counted(recorded, lambda r: r - r.abs().mean(), torch.ones(PROMPTS * GROUP)) == []


def test_without_spread_there_is_a_second_look_soon(recorded):
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    rewards = torch.ones(8)
    with recorded() as seen:
        for _ in range(40):
            optimizer.zero_grad()
            (net(torch.randn(8, 2)).squeeze(1) * (rewards - rewards.mean())).mean().backward()
            optimizer.step()
    assert max(u.number for u in seen.evidence.updates) > 20
