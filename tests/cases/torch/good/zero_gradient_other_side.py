"""Twin critics: both learn through the smaller one."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
q1 = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
q2 = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
nn.init.constant_(q2[2].bias, 50.0)  # optimistic
optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)

for _ in range(12):
    state = torch.randn(32, 4)
    target = state.sum(1, keepdim=True)
    loss = F.mse_loss(q1(state), target) + F.mse_loss(q2(state), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
