"""DDPG whose actions are clamped to a range that its actor never reaches."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for update in range(12):
    state, action, reward = torch.randn(32, 4), torch.rand(32, 2), torch.randn(32, 1)
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    proposed = actor(state).clamp(5.0, 10.0)
    actor_loss = -critic(torch.cat([state, proposed], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
