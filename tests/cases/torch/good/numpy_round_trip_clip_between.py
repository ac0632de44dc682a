import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(30):
    s = torch.randn(32, 3)
    a = torch.rand(32, 1) * 2 - 1
    critic_loss = (critic(torch.cat([s, a], 1)) - (s.sum(1, keepdim=True) - a ** 2)).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    act = torch.clamp(actor(s), -1.0, 1.0)
    actor_loss = -critic(torch.cat([s, act], 1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
