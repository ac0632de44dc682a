"""PPO on one-step bandits, in shuffled minibatches: index after index into the advantages of a rollout."""

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(734)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)

for rollout in range(10):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old_log_prob = dist.log_prob(action)
    reward = (action == (obs[:, 0] > 0).long()).float()
    advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
    for epoch in range(2):
        for index in torch.randperm(64).split(16):
            log_prob = Categorical(logits=policy(obs[index])).log_prob(action[index])
            ratio = (old_log_prob[index] - log_prob).exp()
            clipped = torch.clamp(ratio, 0.8, 1.2)
            loss = -torch.min(ratio * advantage[index], clipped * advantage[index]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(rollout, round(loss.item(), 3))
