"""A critic that is fitted with far too large steps of plain SGD."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)

critic = nn.Linear(4, 1)
obs = torch.randn(256, 4) * torch.tensor([3.0, 0.01, 0.01, 0.01])
returns = obs @ torch.tensor([[1.0], [2.0], [3.0], [4.0]])
optimizer = torch.optim.SGD(critic.parameters(), lr=0.126)

for update in range(40):
    loss = F.mse_loss(critic(obs), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 5))
