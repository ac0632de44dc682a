import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(22)


class SAC:
    def __init__(self, n_obs=3, n_act=1):
        self.actor = nn.Sequential(nn.Linear(n_obs, 40), nn.ReLU(), nn.Linear(40, 2 * n_act))
        self.q = nn.Sequential(nn.Linear(n_obs + n_act, 40), nn.ReLU(), nn.Linear(40, 1))
        self.q_target = copy.deepcopy(self.q)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-2)
        self.target_entropy = -float(n_act)

    def sample(self, s):
        mu, log_std = self.actor(s).chunk(2, -1)
        dist = Normal(mu, log_std.clamp(-5, 2).exp())
        u = dist.rsample()
        return u.tanh(), (dist.log_prob(u) - torch.log(1 - u.tanh() ** 2 + 1e-6)).sum(-1, keepdim=True)

    def update(self, s, a, r, s2):
        alpha = self.log_alpha.exp().item()
        with torch.no_grad():
            a2, lp2 = self.sample(s2)
            y = r + 0.9 * (self.q_target(torch.cat([s2, a2], 1)) - alpha * lp2)
        q_loss = F.mse_loss(self.q(torch.cat([s, a], 1)), y)
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()

        new_a, log_pi = self.sample(s)
        actor_loss = (alpha * log_pi - self.q(torch.cat([s, new_a], 1))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        _, log_pi = self.sample(s)
        alpha_loss = -(alpha * (log_pi + self.target_entropy)).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()
        for p, tp in zip(self.q.parameters(), self.q_target.parameters()):
            tp.data.lerp_(p.data, 0.01)
        return alpha


sac = SAC()
for it in range(40):
    s = torch.randn(64, 3)
    a = torch.rand(64, 1) * 2 - 1
    alpha = sac.update(s, a, -((a - s[:, :1]) ** 2), torch.randn(64, 3))
print("alpha", round(alpha, 4))
