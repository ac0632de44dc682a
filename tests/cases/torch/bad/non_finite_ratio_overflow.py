"""PPO whose old log-probabilities were stored as zeros."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)

from torch.distributions import Normal

policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
log_std = -7.0

for update in range(10):
    obs = torch.randn(64, 3)
    with torch.no_grad():
        old = Normal(policy(obs), 0.001)
        action = old.sample()
        old_log_prob = old.log_prob(action + 1.0)
    advantage = torch.randn(64, 1)
    log_prob = Normal(policy(obs), 0.001).log_prob(action)
    ratio = torch.exp(log_prob - old_log_prob)
    loss = -(ratio * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
