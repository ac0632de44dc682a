import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(212)


class SquashedActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.mu = nn.Linear(32, 1)
        self.log_std = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.body(obs)
        dist = Normal(self.mu(h), self.log_std(h).clamp(-4, 1).exp())
        u = dist.sample()
        a = torch.tanh(u)
        logp = dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)
        return a, logp.sum(-1, keepdim=True)


actor = SquashedActor()
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
q_target = copy.deepcopy(q).requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
q_opt = torch.optim.Adam(q.parameters(), lr=3e-4)
alpha = 0.1

for it in range(50):
    s = torch.randn(64, 3)
    a = torch.rand(64, 1) * 2 - 1
    r = -((a - 0.5) ** 2)
    with torch.no_grad():
        a2, logp2 = actor(s)
        y = r + 0.9 * (q_target(torch.cat([s, a2], 1)) - alpha * logp2)
    q_loss = F.mse_loss(q(torch.cat([s, a], 1)), y)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()

    new_a, logp = actor(s)
    actor_loss = (alpha * logp - q(torch.cat([s, new_a], 1))).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    for p, tp in zip(q.parameters(), q_target.parameters()):
        tp.data.lerp_(p.data, 0.01)
    if it % 10 == 0:
        print("it", it, "q", round(q_loss.item(), 4), "actor", round(actor_loss.item(), 4))
