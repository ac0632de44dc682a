import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import OneHotCategoricalStraightThrough

torch.manual_seed(5)


class DiscreteSAC:
    def __init__(self, n_obs=4, n_act=3, alpha=0.05):
        mk = lambda i, o: nn.Sequential(nn.Linear(i, 40), nn.ReLU(), nn.Linear(40, o))
        self.policy = mk(n_obs, n_act)
        self.q1, self.q2 = mk(n_obs + n_act, 1), mk(n_obs + n_act, 1)
        self.t1 = copy.deepcopy(self.q1).requires_grad_(False)
        self.t2 = copy.deepcopy(self.q2).requires_grad_(False)
        self.popt = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.qopt = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.alpha = alpha

    def pick(self, obs):
        dist = OneHotCategoricalStraightThrough(logits=self.policy(obs))
        a = dist.sample()
        return a, dist.entropy().unsqueeze(-1)

    def q_step(self, s, a, r, s2):
        with torch.no_grad():
            a2, ent = self.pick(s2)
            x2 = torch.cat([s2, a2], -1)
            y = r + 0.9 * (torch.min(self.t1(x2), self.t2(x2)) + self.alpha * ent)
        x = torch.cat([s, a], -1)
        loss = F.mse_loss(self.q1(x), y) + F.mse_loss(self.q2(x), y)
        self.qopt.zero_grad()
        loss.backward()
        self.qopt.step()
        for net, tgt in ((self.q1, self.t1), (self.q2, self.t2)):
            for p, tp in zip(net.parameters(), tgt.parameters()):
                tp.data.lerp_(p.data, 0.02)
        return loss.item()

    def p_step(self, s):
        a, ent = self.pick(s)
        x = torch.cat([s, a], -1)
        loss = -(torch.min(self.q1(x), self.q2(x)) + self.alpha * ent).mean()
        self.popt.zero_grad()
        loss.backward()
        self.popt.step()
        return loss.item()


agent = DiscreteSAC()
for it in range(50):
    s = torch.randn(64, 4)
    a = F.one_hot(torch.randint(3, (64,)), 3).float()
    r = (a * s[:, :3]).sum(-1, keepdim=True)
    ql = agent.q_step(s, a, r, torch.randn(64, 4))
    pl = agent.p_step(s)
print("q", round(ql, 4), "pi", round(pl, 4))
