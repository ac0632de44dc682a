"""A DQN whose sync goes through the data of each parameter."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(614)
q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def sync():
    for target, param in zip(target_net.parameters(), q_net.parameters(), strict=True):
        target.data = param.data


sync()
for step in range(60):
    s, s2 = torch.randn(48, 4), torch.randn(48, 4)
    a, r = torch.randint(0, 3, (48, 1)), (s[:, 0] > 0).float()
    done = (torch.rand(48) < 0.1).float()
    with torch.no_grad():
        y = r + 0.5 * target_net(s2).max(1).values * (1 - done)
    loss = F.mse_loss(q_net(s).gather(1, a).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        sync()
        print(step, round(loss.item(), 4))
