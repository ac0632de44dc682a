import itertools

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(222)
encoder = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
actor = nn.Linear(32, 3)
critic = nn.Linear(32, 1)
params = itertools.chain(actor.parameters(), critic.parameters())
optimizer = torch.optim.Adam(params, lr=2e-3)

for it in range(60):
    obs = torch.randn(64, 6)
    z = encoder(obs)
    dist = Categorical(logits=actor(z))
    value = critic(z).squeeze(-1)
    act = dist.sample()
    reward = (act == obs[:, :3].argmax(1)).float()
    adv = (reward - value).detach()
    loss = -(dist.log_prob(act) * adv).mean() + 0.5 * (reward - value).pow(2).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 0:
        print("it", it, "reward", round(reward.mean().item(), 3), "loss", round(loss.item(), 4))
