import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))

    def sample(self, s):
        mu, ls = self.net(s).chunk(2, -1)
        d = torch.distributions.Normal(mu, ls.clamp(-5, 2).exp())
        u = d.rsample()
        a = torch.tanh(u)
        return a, (d.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)


actor = Actor()
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
log_alpha = torch.zeros(1, requires_grad=True)
oa = torch.optim.Adam(actor.parameters(), 1e-3)
oq = torch.optim.Adam(q.parameters(), 1e-3)
ol = torch.optim.Adam([log_alpha], 1e-3)
for i in range(60):
    s, a, r = torch.randn(32, 3), torch.rand(32, 1) * 2 - 1, torch.randn(32, 1)
    ql = F.mse_loss(q(torch.cat([s, a], 1)), r)
    oq.zero_grad()
    ql.backward()
    oq.step()
    new, logp = actor.sample(s)
    alpha = log_alpha.exp().detach()
    actor_loss = (alpha * logp - q(torch.cat([s, new], 1))).mean()
    alpha_loss = -(log_alpha * (logp - 1.0)).mean()
    oa.zero_grad()
    ol.zero_grad()
    (actor_loss + alpha_loss).backward()
    oa.step()
    ol.step()
