"""Twelve layers of sigmoid in front of the action values."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)

layers = [m for _ in range(3) for m in (nn.Linear(32, 32), nn.ReLU())]
q_net = nn.Sequential(nn.Linear(4, 32), nn.Sigmoid(), *layers, nn.Linear(32, 2))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)

for update in range(40):
    obs = torch.randn(64, 4)
    action = torch.randint(0, 2, (64, 1))
    reward = obs[:, :1] * (2 * action - 1)
    loss = F.mse_loss(q_net(obs).gather(1, action), reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 3))
