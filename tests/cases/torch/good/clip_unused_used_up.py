"""Gradients are clipped before each step."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(616)
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
params = list(value.parameters())
optimizer = torch.optim.Adam(params, lr=1e-3)

for update in range(40):
    states = torch.randn(64, 4)
    loss = F.mse_loss(value(states), 9 * states.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 0.5)
    optimizer.step()
print("loss", round(loss.item(), 4))
