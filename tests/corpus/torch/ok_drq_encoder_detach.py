import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(108)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten())
        self.proj = nn.Linear(36, 12)

    def forward(self, img, detach=False):
        h = self.conv(img)
        if detach:
            h = h.detach()
        return torch.tanh(self.proj(h))

    def tie(self, other):
        self.conv = other.conv


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.out = nn.Linear(12, 2)

    def forward(self, img, detach_encoder=False):
        mu, ls = self.out(self.encoder(img, detach=detach_encoder)).chunk(2, -1)
        return Normal(mu, ls.clamp(-4, 1).exp())


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.q = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, img, a, detach_encoder=False):
        return self.q(torch.cat([self.encoder(img, detach=detach_encoder), a], 1))


actor, critic = Actor(), Critic()
actor.encoder.tie(critic.encoder)
critic_target = copy.deepcopy(critic)
actor_opt = torch.optim.Adam([*actor.encoder.proj.parameters(), *actor.out.parameters()], lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for it in range(30):
    img, img2, a = torch.rand(32, 1, 8, 8), torch.rand(32, 1, 8, 8), torch.rand(32, 1) * 2 - 1
    r = -((a - img.mean((2, 3))) ** 2)
    with torch.no_grad():
        y = r + 0.9 * critic_target(img2, actor(img2).sample().tanh())
    loss_c = F.mse_loss(critic(img, a), y)
    critic_opt.zero_grad()
    loss_c.backward()
    critic_opt.step()

    pi = actor(img, detach_encoder=True).rsample().tanh()
    loss_a = -critic(img, pi, detach_encoder=True).mean()
    actor_opt.zero_grad()
    loss_a.backward()
    actor_opt.step()
    for p, tp in zip(critic.parameters(), critic_target.parameters()):
        tp.data.lerp_(p.data, 0.05)
print("critic", round(loss_c.item(), 4))
