import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(303)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for step in range(40):
    states, advantages = torch.randn(32, 4), torch.randn(32)
    dist = Categorical(logits=policy(states))
    actions = dist.sample()
    log_probs = dist.log_prob(actions).detach()
    entropy = dist.entropy()
    loss = -(log_probs * advantages).mean() - 0.01 * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
