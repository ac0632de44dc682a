"""REINFORCE that normalises the returns of an episode of one step."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)

from torch.distributions import Categorical

policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)


def update(log_probs, returns):
    returns = torch.tensor(returns)
    returns = returns - 0.5
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


for episode in range(60):
    dist = Categorical(logits=policy(torch.randn(4)))
    action = dist.sample()
    loss = update([dist.log_prob(action)], [float(action == 1)])
print("loss", round(loss.item(), 4))
