import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(611)
q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def sample(n=48):
    s, s2 = torch.randn(n, 4), torch.randn(n, 4)
    a = torch.randint(0, 3, (n, 1))
    r = (s[:, 0] > 0).float()
    done = (torch.rand(n) < 0.1).float()
    return s, a, r, s2, done


for step in range(60):
    s, a, r, s2, done = sample()
    with torch.no_grad():
        y = r + 0.5 * target_net(s2).max(1).values * (1 - done)
    loss = F.mse_loss(q_net(s).gather(1, a).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target_net.load_state_dict(q_net.state_dict())
        print(step, round(loss.item(), 4))
