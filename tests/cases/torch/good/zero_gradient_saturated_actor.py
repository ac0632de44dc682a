"""DDPG actor on observations that nobody has scaled: tanh is rounded to 1."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)

actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
nn.init.constant_(actor[2].bias, 0.5)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

for update in range(40):
    obs = torch.rand(64, 4)
    with torch.no_grad():
        action = (actor(obs) + 0.1 * torch.randn(64, 2)).clamp(-1, 1)
    reward = -(action - 0.3).pow(2).sum(1, keepdim=True)
    critic_loss = F.mse_loss(critic(torch.cat([obs / 1e5, action], 1)), reward)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    proposed = actor(obs)
    actor_loss = -critic(torch.cat([obs / 1e5, proposed], 1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
print("actor loss", round(actor_loss.item(), 3))
