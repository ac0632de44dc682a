"""Distance to a goal that starts at distance zero: the derivative of the norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)

actor = nn.Linear(3, 2)
nn.init.zeros_(actor.weight)
nn.init.zeros_(actor.bias)
optimizer = torch.optim.SGD(actor.parameters(), lr=1e-2)

for update in range(20):
    goal = torch.randn(16, 3)
    move = actor(goal)
    length = ((move ** 2).sum(1) + 1e-8).sqrt()
    loss = length.mean() + (move - goal[:, :2]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
