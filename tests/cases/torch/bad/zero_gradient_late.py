"""A policy gradient that is annealed, as exploration noise is."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for update in range(400):
    weight = max(0.0, 1 - update / 100)
    state, action, returns = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16)
    log_prob = Categorical(logits=policy(state)).log_prob(action)
    loss = -weight * (log_prob * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
