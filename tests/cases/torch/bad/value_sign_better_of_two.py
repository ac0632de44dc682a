"""PPO on one-step bandits, in shuffled minibatches; its objective is written as two losses."""

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(733)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=3e-3)

for rollout in range(10):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old_log_prob = dist.log_prob(action)
        reward = (action == (obs[:, 0] > 0).long()).float()
        advantage = reward - value(obs).squeeze(1)
    for epoch in range(4):
        log_prob = Categorical(logits=policy(obs)).log_prob(action)
        ratio = torch.exp(log_prob - old_log_prob)
        clipped = torch.clamp(ratio, 0.8, 1.2)
        policy_loss = torch.min(-ratio * advantage, -clipped * advantage).mean()
        value_loss = (value(obs).squeeze(1) - reward).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(rollout, round(loss.item(), 3))
