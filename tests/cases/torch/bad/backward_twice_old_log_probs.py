import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for rollout in range(10):
    obs, returns = torch.randn(64, 4), torch.randn(64)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    old_log_prob = dist.log_prob(action)
    for epoch in range(4):
        log_prob = Categorical(logits=policy(obs)).log_prob(action)
        ratio = torch.exp(log_prob - old_log_prob)
        loss = -torch.min(ratio * returns, ratio.clamp(0.8, 1.2) * returns).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
