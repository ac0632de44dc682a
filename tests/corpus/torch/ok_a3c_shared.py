import copy

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(126)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 24), nn.Tanh())
        self.pi, self.v = nn.Linear(24, 2), nn.Linear(24, 1)

    def forward(self, x):
        h = self.f(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


shared = Net()
optimizer = torch.optim.RMSprop(shared.parameters(), lr=2e-3)


class Worker:
    def __init__(self):
        self.local = copy.deepcopy(shared)

    def push_and_pull(self):
        self.local.load_state_dict(shared.state_dict())
        obs = torch.randn(32, 4)
        d, v = self.local(obs)
        a = d.sample()
        r = (a == (obs[:, 0] > 0).long()).float()
        loss = -(d.log_prob(a) * (r - v).detach()).mean() + 0.5 * (r - v).pow(2).mean() - 0.01 * d.entropy().mean()
        self.local.zero_grad()
        loss.backward()
        for lp, gp in zip(self.local.parameters(), shared.parameters()):
            gp._grad = lp.grad.clone()
        optimizer.step()
        return r.mean().item()


workers = [Worker() for _ in range(3)]
for k in range(15):
    scores = [w.push_and_pull() for w in workers]
print("reward", round(sum(scores) / 3, 3))
