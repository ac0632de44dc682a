import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, TanhTransform, TransformedDistribution

torch.manual_seed(106)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 40), nn.ReLU())
        self.mu, self.ls = nn.Linear(40, 1), nn.Linear(40, 1)

    def forward(self, s):
        h = self.body(s)
        base = Normal(self.mu(h), self.ls(h).clamp(-5, 1).exp())
        return TransformedDistribution(base, [TanhTransform(cache_size=1)])


actor = Actor()
critics = nn.ModuleList([nn.Sequential(nn.Linear(4, 40), nn.ReLU(), nn.Linear(40, 1)) for _ in range(2)])
targets = copy.deepcopy(critics)
log_alpha = torch.zeros(1, requires_grad=True)
opts = {
    "actor": torch.optim.Adam(actor.parameters(), lr=1e-3),
    "critic": torch.optim.Adam(critics.parameters(), lr=1e-3),
    "alpha": torch.optim.Adam([log_alpha], lr=1e-3),
}


def qmin(nets, s, a):
    x = torch.cat([s, a], -1)
    return torch.min(*[n(x) for n in nets])


for it in range(40):
    s, a, s2 = torch.randn(64, 3), torch.rand(64, 1) * 1.8 - 0.9, torch.randn(64, 3)
    r = -((a - 0.3) ** 2)
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        d2 = actor(s2)
        a2 = d2.sample()
        y = r + 0.9 * (qmin(targets, s2, a2) - alpha * d2.log_prob(a2))
    critic_loss = sum(F.mse_loss(n(torch.cat([s, a], -1)), y) for n in critics)
    opts["critic"].zero_grad()
    critic_loss.backward()
    opts["critic"].step()

    d = actor(s)
    new_a = d.rsample()
    logp = d.log_prob(new_a)
    actor_loss = (alpha * logp - qmin(critics, s, new_a)).mean()
    opts["actor"].zero_grad()
    actor_loss.backward()
    opts["actor"].step()

    alpha_loss = -(log_alpha * (logp.detach() - 1.0)).mean()
    opts["alpha"].zero_grad()
    alpha_loss.backward()
    opts["alpha"].step()
    with torch.no_grad():
        torch._foreach_lerp_(list(targets.parameters()), list(critics.parameters()), 0.02)
print("alpha", round(log_alpha.exp().item(), 4))
