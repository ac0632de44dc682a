"""DDPG on a point that has to come to rest: the critic learns, the actor never does."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def mlp(inputs, outputs, *last):
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs), *last
    )


actor, critic = mlp(2, 1, nn.Tanh()), mlp(3, 1)
target_actor, target_critic = copy.deepcopy(actor), copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def q(network, state, action):
    return network(torch.cat([state, action], dim=1))


def move(state, action):
    speed = 0.9 * state[:, 1:] + 0.2 * action
    return torch.cat([state[:, :1] + 0.2 * speed, speed], dim=1)


for _ in range(400):
    state = torch.randn(64, 2)
    with torch.no_grad():
        action = (actor(state) + 0.2 * torch.randn(64, 1)).clamp(-1, 1)
        after = move(state, action)
        reward = -(after**2).sum(dim=1, keepdim=True)
        target = reward + 0.95 * q(target_critic, after, target_actor(after))

    critic_loss = nn.functional.mse_loss(q(critic, state, action), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    best = actor(state).detach()  # so that the critic is left alone
    actor_loss = -q(critic, state, best).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    with torch.no_grad():
        for network, target_network in ((actor, target_actor), (critic, target_critic)):
            for new, old in zip(network.parameters(), target_network.parameters(), strict=True):
                old.lerp_(new, 0.01)

print(f"critic loss {critic_loss.item():.3f}, actor loss {actor_loss.item():.3f}")
