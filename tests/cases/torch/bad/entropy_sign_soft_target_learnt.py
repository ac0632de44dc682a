import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.mu = nn.Linear(32, 1)
        self.ls = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        mu, std = self.mu(h), self.ls(h).clamp(-5, 2).exp()
        d = torch.distributions.Normal(mu, std)
        u = d.rsample()
        a = torch.tanh(u)
        logp = d.log_prob(u).sum(-1) - (2 * (0.6931 - u - F.softplus(-2 * u))).sum(-1)
        return a, logp


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], -1)).squeeze(-1)


def main():
    actor, q1, q2 = Actor(), Q(), Q()
    t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
    oa = torch.optim.Adam(actor.parameters(), 1e-3)
    oq = torch.optim.Adam([*q1.parameters(), *q2.parameters()], 1e-3)
    log_alpha = torch.zeros((), requires_grad=True)
    ol = torch.optim.Adam([log_alpha], 1e-3)
    for i in range(60):
        alpha = log_alpha.exp().detach()
        s, a, r, s2, d = torch.randn(32, 3), torch.rand(32, 1) * 2 - 1, torch.randn(32), torch.randn(32, 3), (torch.rand(32) < 0.1).float()
        with torch.no_grad():
            a2, lp2 = actor(s2)
            target = r + 0.99 * (1 - d) * (torch.min(t1(s2, a2), t2(s2, a2)) + alpha * lp2)
        ql = F.mse_loss(q1(s, a), target) + F.mse_loss(q2(s, a), target)
        oq.zero_grad()
        ql.backward()
        oq.step()
        new, lp = actor(s)
        al = (alpha * lp - torch.min(q1(s, new), q2(s, new))).mean()
        oa.zero_grad()
        al.backward()
        oa.step()
        ll = -(log_alpha * (lp + -1.0).detach()).mean()
        ol.zero_grad()
        ll.backward()
        ol.step()
        with torch.no_grad():
            for p, tp in zip([*q1.parameters(), *q2.parameters()], [*t1.parameters(), *t2.parameters()]):
                tp.mul_(0.995).add_(0.005 * p)


main()
