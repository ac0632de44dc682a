"""A schedule for the passes over the data, ten of them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(615)
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.1)
states = torch.randn(1024, 4)
returns = states.sum(1, keepdim=True) + 0.1 * torch.randn(1024, 1)

for epoch in range(10):
    for part in torch.randperm(1024).split(64):
        loss = F.mse_loss(value(states[part]), returns[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    print(epoch, round(loss.item(), 4))
