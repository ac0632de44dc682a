import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(122)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
q_t = copy.deepcopy(q)
pi = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
q_opt, pi_opt = torch.optim.Adam(q.parameters(), lr=1e-3), torch.optim.Adam(pi.parameters(), lr=1e-3)


def retrace(obs, act, rew, mu, gamma=0.9, lam=0.95):
    probs = F.softmax(pi(obs), -1).detach()
    qs = q_t(obs).detach()
    v = (probs * qs).sum(-1)
    qa = qs.gather(-1, act.unsqueeze(-1)).squeeze(-1)
    c = lam * (probs.gather(-1, act.unsqueeze(-1)).squeeze(-1) / mu).clamp(max=1.0)
    out, g = torch.zeros_like(rew), v[-1]
    for t in reversed(range(len(rew))):
        out[t] = rew[t] + gamma * g
        g = c[t] * (out[t] - qa[t]) + v[t]
    return out


for it in range(30):
    obs = torch.randn(6, 16, 4)
    act = torch.randint(3, (6, 16))
    mu = torch.full((6, 16), 1 / 3)
    rew = obs.gather(-1, act.unsqueeze(-1)).squeeze(-1)
    y = retrace(obs, act, rew, mu)
    q_loss = F.mse_loss(q(obs).gather(-1, act.unsqueeze(-1)).squeeze(-1), y)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    d = Categorical(logits=pi(obs))
    pi_loss = -(d.probs * q(obs).detach()).sum(-1).mean() - 0.01 * d.entropy().mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    for p, tp in zip(q.parameters(), q_t.parameters()):
        tp.data.copy_(tp.data * 0.98 + p.data * 0.02)
print("q", round(q_loss.item(), 4))
