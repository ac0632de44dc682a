"""PPO without a clip: advantages are computed in numpy, over rollouts with ends in them."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))


def gae(rewards, values, dones, gamma=0.9, lam=0.95):
    advantages, running = np.zeros(len(rewards), np.float32), 0.0
    for t in reversed(range(len(rewards))):
        mask = 1.0 - dones[t]
        delta = rewards[t] + gamma * values[t + 1] * mask - values[t]
        running = delta + gamma * lam * mask * running
        advantages[t] = running
    return advantages, advantages + values[:-1]


def main():
    torch.manual_seed(739)
    rng = np.random.default_rng(739)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
    for rollout in range(12):
        obs = torch.randn(129, 4)
        with torch.no_grad():
            action = Categorical(logits=actor(obs)).sample()
            values = critic(obs).squeeze(1).numpy()
        rewards = (action == (obs[:, 0] > 0).long()).float().numpy()[:-1]
        dones = (rng.random(128) < 0.1).astype(np.float32)
        advantages, returns = gae(rewards, values, dones)
        log_prob = Categorical(logits=actor(obs[:-1])).log_prob(action[:-1])
        policy_loss = -(log_prob * torch.as_tensor(advantages)).mean()
        value_loss = (critic(obs[:-1]).squeeze(1) - torch.as_tensor(returns)).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(round(loss.item(), 3))


main()
