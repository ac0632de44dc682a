import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class BootstrappedDQN(nn.Module):
    def __init__(self, n_obs, n_act, k):
        super().__init__()
        self.core = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(32, n_act) for _ in range(k))

    def forward(self, x):
        h = self.core(x)
        return [head(h) for head in self.heads]


def train(k=4, steps=40):
    random.seed(6)
    torch.manual_seed(6)
    online, target = BootstrappedDQN(4, 2, k), BootstrappedDQN(4, 2, k)
    target.load_state_dict(online.state_dict())
    opt = torch.optim.Adam(online.parameters(), lr=1e-3)
    for step in range(steps):
        s, s2 = torch.randn(32, 4), torch.randn(32, 4)
        a = torch.randint(2, (32, 1))
        r = (a == (s[:, :1] > 0)).float()
        qs = online(s)
        with torch.no_grad():
            nexts = target(s2)
        losses = []
        for head in range(k - 1):
            y = r + 0.9 * nexts[head].max(1, keepdim=True).values
            mask = (torch.rand(32, 1) < 0.8).float()
            losses.append((mask * (qs[head].gather(1, a) - y) ** 2).mean())
        loss = sum(losses) / k
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            target.load_state_dict(online.state_dict())
    return loss.item()


print("loss", round(train(), 4))
