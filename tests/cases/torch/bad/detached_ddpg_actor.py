import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(201)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, s):
        return torch.tanh(self.net(s))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


class DDPG:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def update(self, s, a, r, s2):
        with torch.no_grad():
            y = r + 0.95 * self.critic_target(s2, self.actor_target(s2))
        critic_loss = F.mse_loss(self.critic(s, a), y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        action = self.actor(s).detach()
        actor_loss = -self.critic(s, action).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            for p, tp in zip(net.parameters(), target.parameters()):
                tp.data.mul_(0.99).add_(0.01 * p.data)
        return critic_loss.item(), actor_loss.item()


agent = DDPG()
for it in range(40):
    s = torch.randn(64, 3)
    a = torch.rand(64, 1) * 2 - 1
    r = -((a - s[:, :1].tanh()) ** 2)
    losses = agent.update(s, a, r, s + 0.1 * torch.randn_like(s))
    if it % 10 == 0:
        print("it", it, "critic %.3f actor %.3f" % losses)
