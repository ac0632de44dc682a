"""REINFORCE on batches of one-step bandits."""

import torch
import torch.nn as nn

torch.manual_seed(612)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2), nn.Softmax(dim=-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)

for update in range(60):
    obs = torch.randn(64, 4)
    probs = policy(obs)
    action = torch.multinomial(probs.detach(), 1)
    reward = (action.squeeze(1) == (obs[:, 0] > 0).long()).float()
    chosen = probs.gather(1, action).squeeze(1)
    log_prob = chosen
    loss = -(log_prob * (reward - 0.5)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 3))
