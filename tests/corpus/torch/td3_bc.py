import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


class TD3BC:
    def __init__(self):
        net = lambda i, o: nn.Sequential(nn.Linear(i, 48), nn.ReLU(), nn.Linear(48, o))
        self.actor, self.critic = net(4, 2), net(6, 1)
        self.actor_t, self.critic_t = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.a_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.c_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.total_it = 0

    def Q(self, s, a):
        return self.critic(torch.cat([s, a], 1))

    def train(self, s, a, r, s2, alpha=2.5):
        self.total_it += 1
        with torch.no_grad():
            a2 = self.actor_t(s2).tanh()
            y = r + 0.95 * self.critic_t(torch.cat([s2, a2], 1))
        c_loss = F.mse_loss(self.Q(s, a), y)
        self.c_opt.zero_grad()
        c_loss.backward()
        self.c_opt.step()
        if self.total_it % 2 == 0:
            pi = self.actor(s).tanh()
            Q = self.Q(s, pi.detach())
            lmbda = alpha / Q.abs().mean().detach()
            a_loss = -lmbda * Q.mean() + F.mse_loss(pi, a)
            self.a_opt.zero_grad()
            a_loss.backward()
            self.a_opt.step()
            for n, t in ((self.actor, self.actor_t), (self.critic, self.critic_t)):
                for p, tp in zip(n.parameters(), t.parameters()):
                    tp.data.copy_(0.005 * p.data + 0.995 * tp.data)
        return c_loss.item()


algo = TD3BC()
data = torch.randn(512, 4)
for it in range(60):
    s = data[torch.randint(512, (64,))]
    a = torch.tanh(s[:, :2] + 0.3 * torch.randn(64, 2))
    loss = algo.train(s, a, -(a - 0.5 * s[:, 2:]).pow(2).sum(1, keepdim=True), s + 0.1 * torch.randn_like(s))
print("critic loss", round(loss, 4))
