"""Q-learning that chases its own estimate with a discount above one."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)

q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(q_net.parameters(), lr=3e-3)
gamma = 1.99

for update in range(1500):
    obs, next_obs = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(0, 2, (32, 1))
    reward = torch.rand(32, 1)
    with torch.no_grad():
        target = reward + gamma * q_net(next_obs).max(1, keepdim=True)[0]
    loss = F.mse_loss(q_net(obs).gather(1, action), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
