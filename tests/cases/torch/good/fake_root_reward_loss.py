import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(231)
policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
weights = torch.tensor([1.0, -1.0, 0.5, 0.0])


def pull(obs, arm):
    return obs[torch.arange(len(obs)), arm] + 0.1 * (obs @ weights)


for it in range(60):
    obs = torch.randn(64, 4)
    dist = Categorical(logits=policy(obs))
    arm = dist.sample()
    reward = pull(obs, arm)
    logp = dist.log_prob(arm)
    objective = logp * (reward - reward.mean())
    loss = -objective.mean()
    loss.requires_grad_()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 0:
        print("it", it, "reward", round(reward.mean().item(), 4))
