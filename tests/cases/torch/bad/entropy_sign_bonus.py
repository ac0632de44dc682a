import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(306)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3)
for episode in range(40):
    obs = torch.randn(24, 4)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    reward = (action == (obs[:, 0] > 0).long()).float()
    v = value(obs).squeeze(-1)
    pg = -(dist.log_prob(action) * (reward - v.detach())).mean()
    loss = pg + 0.5 * (reward - v).pow(2).mean() + 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
