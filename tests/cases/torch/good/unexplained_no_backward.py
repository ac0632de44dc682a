"""DQN that clears, clips and steps."""

import torch
from torch import nn

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)

for update in range(12):
    state, action, target = torch.randn(32, 4), torch.randint(2, (32, 1)), torch.randn(32, 1)
    loss = nn.functional.mse_loss(q_net(state).gather(1, action), target)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q_net.parameters(), 10.0)
    optimizer.step()
