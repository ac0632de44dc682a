"""A slip of the exponent in the learning rate."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)

policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-13)

for update in range(40):
    obs = torch.randn(64, 4)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    reward = (action == 1).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 3))
