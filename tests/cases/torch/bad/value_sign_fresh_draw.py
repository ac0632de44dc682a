import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(306)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for episode in range(40):
    log_probs, rewards = [], []
    for step in range(12):
        obs = torch.randn(4)
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(dist.sample()))
        rewards.append(1.0 if action.item() == int(obs[0] > 0) else 0.0)
    returns = torch.tensor(rewards)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 3))
