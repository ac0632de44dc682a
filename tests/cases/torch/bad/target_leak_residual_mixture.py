"""A mixture of the semi-gradient and the residual gradient: both sides of the error are trained."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(value.parameters(), lr=1e-2)


def update(state, reward, following):
    now = value(state).squeeze(1)
    target = reward + 0.9 * value(following).squeeze(1)
    semi = target - now
    residual = target - now.detach()
    loss = semi.pow(2).mean() + 0.3 * residual.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for _ in range(12):
    state = torch.randn(16, 4)
    update(state, state[:, 0], state + 0.1 * torch.randn(16, 4))
