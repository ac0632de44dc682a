import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(223)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.Tanh(), nn.Linear(32, o))


class TD3:
    def __init__(self):
        self.pi, self.q1, self.q2 = mlp(3, 1), mlp(4, 1), mlp(4, 1)
        self.pi_t, self.q1_t, self.q2_t = (copy.deepcopy(n) for n in (self.pi, self.q1, self.q2))
        self.pi_opt = torch.optim.Adam(self.pi.parameters(), lr=1e-3)
        self.q_opt = torch.optim.Adam(self.q1.parameters(), lr=1e-3)
        self.updates = 0

    def learn(self, s, a, r, s2):
        with torch.no_grad():
            a2 = (torch.tanh(self.pi_t(s2)) + (0.2 * torch.randn_like(a)).clamp(-0.5, 0.5)).clamp(-1, 1)
            x2 = torch.cat([s2, a2], 1)
            y = r + 0.95 * torch.min(self.q1_t(x2), self.q2_t(x2))
        x = torch.cat([s, a], 1)
        q_loss = F.mse_loss(self.q1(x), y) + F.mse_loss(self.q2(x), y)
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()
        self.updates += 1
        if self.updates % 2 == 0:
            pi_loss = -self.q1(torch.cat([s, torch.tanh(self.pi(s))], 1)).mean()
            self.pi_opt.zero_grad()
            pi_loss.backward()
            self.pi_opt.step()
            for net, tgt in ((self.pi, self.pi_t), (self.q1, self.q1_t), (self.q2, self.q2_t)):
                for p, tp in zip(net.parameters(), tgt.parameters()):
                    tp.data.lerp_(p.data, 0.02)
        return q_loss.item()


agent = TD3()
for step in range(40):
    s = torch.randn(64, 3)
    a = torch.rand(64, 1) * 2 - 1
    loss = agent.learn(s, a, -((a - s[:, :1]) ** 2), s + 0.1 * a)
    if step % 10 == 0:
        print("step", step, "critic loss", round(loss, 4))
