import random

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(210)
random.seed(210)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
        self.actor = nn.Linear(32, 2)
        self.critic = nn.Linear(32, 1)

    def forward(self, x):
        h = self.shared(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


net = TwoHeads()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

for episode in range(15):
    log_probs, values, rewards = [], [], []
    for t in range(20):
        x = torch.tensor([random.uniform(-1, 1), t / 20])
        dist, value = net(x)
        a = dist.sample()
        log_probs.append(dist.log_prob(a))
        values.append(value)
        rewards.append(1.0 if (x[0] > 0) == (a.item() == 1) else 0.0)
    returns, g = [], 0.0
    for r in rewards[::-1]:
        g = r + 0.9 * g
        returns.insert(0, g)
    returns = torch.tensor(returns)
    values = torch.stack(values)
    adv = returns - values.detach()
    log_probs = torch.tensor(log_probs)
    loss = -(log_probs * adv).mean() + 0.5 * (returns - values).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if episode % 5 == 0:
        print("episode", episode, "return", sum(rewards), "loss", round(loss.item(), 4))
