"""A2C in main(): what comes after each state, and what was expected of it."""

import torch
import torch.nn as nn
from torch.distributions import Categorical


def main():
    torch.manual_seed(738)
    actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
    for update in range(30):
        obs = torch.randn(40, 4)
        dist = Categorical(logits=actor(obs))
        action = dist.sample()
        returns = (action == (obs[:, 0] > 0).long()).float()
        values = critic(obs).squeeze(1)
        advantage = returns - values.detach().unsqueeze(1)
        policy_loss = -(dist.log_prob(action) * advantage).mean()
        loss = policy_loss + 0.5 * (returns - values).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(round(loss.item(), 3))


main()
