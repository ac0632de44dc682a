"""Mixed precision: the scaler finds no gradient to look at."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")

for _ in range(8):
    state, action = torch.randn(32, 4), torch.randn(32, 2)
    critic_loss = F.mse_loss(critic(torch.cat([state, action], 1)).squeeze(1), state.sum(1))
    critic_opt.zero_grad()
    scaler.scale(critic_loss).backward()
    scaler.step(critic_opt)

    proposed = torch.tanh(actor(state))
    actor_loss = -critic(torch.cat([state, proposed], 1)).mean()
    actor_opt.zero_grad()
    scaler.scale(actor_loss).backward()
    scaler.step(actor_opt)
    scaler.update()
