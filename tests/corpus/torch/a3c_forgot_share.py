import copy

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(33)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 24), nn.Tanh())
        self.pi, self.v = nn.Linear(24, 2), nn.Linear(24, 1)

    def forward(self, x):
        h = self.f(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def ensure_shared_grads(local, shared):
    for lp, sp in zip(local.parameters(), shared.parameters()):
        sp._grad = lp.grad


class Worker:
    def __init__(self, shared, optimizer):
        self.shared, self.optimizer = shared, optimizer
        self.local = copy.deepcopy(shared)

    def work(self):
        self.local.load_state_dict(self.shared.state_dict())
        obs = torch.randn(32, 4)
        dist, v = self.local(obs)
        a = dist.sample()
        r = (a == (obs[:, 0] > 0).long()).float()
        loss = -(dist.log_prob(a) * (r - v).detach()).mean() + 0.5 * (r - v).pow(2).mean()
        self.local.zero_grad()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


shared = Net()
optimizer = torch.optim.RMSprop(shared.parameters(), lr=1e-3)
workers = [Worker(shared, optimizer) for _ in range(3)]
for round_ in range(15):
    losses = [w.work() for w in workers]
print("losses", [round(x, 4) for x in losses])
