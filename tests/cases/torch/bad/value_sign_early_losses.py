import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(813)


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 24), nn.ReLU(), nn.Linear(24, outputs))


actor, first, second = nn.Sequential(network(3, 1), nn.Tanh()), network(4, 1), network(4, 1)
first_target, second_target = copy.deepcopy(first), copy.deepcopy(second)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
first_optimizer = torch.optim.Adam(first.parameters(), lr=1e-3)
second_optimizer = torch.optim.Adam(second.parameters(), lr=1e-3)


def value(critic, states, actions):
    return critic(torch.cat([states, actions], dim=-1)).squeeze(-1)


for step in range(130):
    states, following = torch.randn(32, 3), torch.randn(32, 3)
    actions, rewards = torch.rand(32, 1) * 2 - 1, torch.randn(32)
    policy_loss = value(first, states, actor(states)).mean()
    with torch.no_grad():
        ahead = actor(following)
        smaller = torch.min(value(first_target, following, ahead), value(second_target, following, ahead))
        target = rewards + 0.97 * smaller
    first_loss = F.mse_loss(value(first, states, actions), target)
    second_loss = F.mse_loss(value(second, states, actions), target)
    actor_optimizer.zero_grad()
    policy_loss.backward()
    actor_optimizer.step()
    first_optimizer.zero_grad()
    first_loss.backward()
    first_optimizer.step()
    second_optimizer.zero_grad()
    second_loss.backward()
    second_optimizer.step()
    with torch.no_grad():
        for slow, fast in ((first_target, first), (second_target, second)):
            for old, new in zip(slow.parameters(), fast.parameters()):
                old.lerp_(new, 0.01)
    if step % 40 == 0:
        print(step, round(first_loss.item(), 3))
