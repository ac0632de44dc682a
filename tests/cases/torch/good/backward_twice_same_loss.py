"""One loss, differentiated in each of several epochs."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for _ in range(8):
    state = torch.randn(32, 4)
    loss = F.mse_loss(critic(state).squeeze(1), state.sum(1))
    for _ in range(1):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
