"""Q-learning whose update is a function."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(512)
q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def update(obs, action, returns):
    optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
    loss = F.mse_loss(q_net(obs).gather(1, action).squeeze(1), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for step in range(40):
    obs, action = torch.randn(32, 4), torch.randint(0, 2, (32, 1))
    returns = (action.squeeze(1) == (obs[:, 0] > 0).long()).float()
    loss = update(obs, action, returns)
    if step % 10 == 0:
        print(step, round(loss, 3))
