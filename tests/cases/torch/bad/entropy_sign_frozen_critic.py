import copy
import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(3)
actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
target = copy.deepcopy(critic)
a_opt = torch.optim.Adam(actor.parameters(), 1e-3)
c_opt = torch.optim.Adam(critic.parameters(), 1e-3)


def act(s):
    mu, log_std = actor(s).chunk(2, -1)
    dist = Normal(mu, log_std.clamp(-5, 2).exp())
    u = dist.rsample()
    a = torch.tanh(u)
    logp = (dist.log_prob(u) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)
    return a, logp


for i in range(40):
    s, s2, a = torch.randn(32, 4), torch.randn(32, 4), torch.rand(32, 2)
    r, d = torch.randn(32, 1), (torch.rand(32, 1) < 0.1).float()
    with torch.no_grad():
        a2, logp2 = act(s2)
        y = r + 0.99 * (1 - d) * (target(torch.cat([s2, a2], 1)) - 0.2 * logp2)
    c_loss = (critic(torch.cat([s, a], 1)) - y).pow(2).mean()
    c_opt.zero_grad()
    c_loss.backward()
    c_opt.step()
    critic.requires_grad_(False)
    pi, logp = act(s)
    q = critic(torch.cat([s, pi], 1))
    a_loss = (-0.2 * logp - q).mean()
    a_opt.zero_grad()
    a_loss.backward()
    a_opt.step()
    critic.requires_grad_(True)
    with torch.no_grad():
        for p, t in zip(critic.parameters(), target.parameters()):
            t.mul_(0.995).add_(0.005 * p)
