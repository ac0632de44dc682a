import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(105)


def mlp(*sizes):
    layers = []
    for i, o in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(i, o), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class TD3:
    def __init__(self):
        self.pi, self.q1, self.q2 = mlp(3, 32, 1), mlp(4, 32, 1), mlp(4, 32, 1)
        self.targets = copy.deepcopy(nn.ModuleList([self.pi, self.q1, self.q2]))
        for p in self.targets.parameters():
            p.requires_grad = False
        self.q_params = list(self.q1.parameters()) + list(self.q2.parameters())
        self.pi_optimizer = torch.optim.Adam(self.pi.parameters(), lr=1e-3)
        self.q_optimizer = torch.optim.Adam(self.q_params, lr=1e-3)

    def update(self, data, timer):
        o, a, r, o2 = data
        pi_t, q1_t, q2_t = self.targets
        with torch.no_grad():
            eps = (torch.randn_like(a) * 0.2).clamp(-0.5, 0.5)
            a2 = (torch.tanh(pi_t(o2)) + eps).clamp(-1, 1)
            x2 = torch.cat([o2, a2], -1)
            backup = r + 0.95 * torch.min(q1_t(x2), q2_t(x2))
        x = torch.cat([o, a], -1)
        loss_q = F.mse_loss(self.q1(x), backup) + F.mse_loss(self.q2(x), backup)
        self.q_optimizer.zero_grad()
        loss_q.backward()
        self.q_optimizer.step()
        if timer % 3 == 0:
            for p in self.q_params:
                p.requires_grad = False
            self.pi_optimizer.zero_grad()
            loss_pi = -self.q1(torch.cat([o, torch.tanh(self.pi(o))], -1)).mean()
            loss_pi.backward()
            self.pi_optimizer.step()
            for p in self.q_params:
                p.requires_grad = True
            with torch.no_grad():
                for net, t in zip((self.pi, self.q1, self.q2), self.targets):
                    for p, tp in zip(net.parameters(), t.parameters()):
                        tp.data.mul_(0.99)
                        tp.data.add_(0.01 * p.data)
        return loss_q.item()


agent = TD3()
for it in range(60):
    o, a = torch.randn(48, 3), torch.rand(48, 1) * 2 - 1
    loss = agent.update((o, a, -((a - o[:, :1]) ** 2), torch.randn(48, 3)), it)
print("q loss", round(loss, 4))
