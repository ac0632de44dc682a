import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(303)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for step in range(40):
    log_probs, entropies = [], []
    for _ in range(20):
        dist = Categorical(logits=policy(torch.randn(4)))
        log_probs.append(dist.log_prob(dist.sample()))
        entropies.append(dist.entropy())
    returns = torch.randn(20)
    losses = [-p.item() * g for p, g in zip(log_probs, returns)]
    loss = torch.stack(losses).sum() - 0.01 * torch.stack(entropies).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
