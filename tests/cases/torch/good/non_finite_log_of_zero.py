"""Actor-critic on probabilities; the logarithm of one that is zero."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for update in range(20):
    obs = torch.randn(64, 4) * 2000
    probs = F.softmax(policy(obs), dim=1)
    action = torch.randint(0, 3, (64, 1))
    reward = (action == 0).float()
    chosen = probs.gather(1, action)
    log_prob = torch.log(chosen + 1e-6)
    loss = -(log_prob * reward).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
