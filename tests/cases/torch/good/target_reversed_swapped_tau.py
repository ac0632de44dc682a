import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(304)
actor, critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)), nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
actor_t, critic_t = copy.deepcopy(actor), copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


@torch.no_grad()
def follow(source, target, tau=0.005):
    for p, t in zip(source.parameters(), target.parameters()):
        t.mul_(1 - tau).add_(tau * p)


for step in range(60):
    s, a, s2 = torch.randn(32, 3), torch.rand(32, 1), torch.randn(32, 3)
    r = -(a - s[:, :1]).abs()
    with torch.no_grad():
        y = r + 0.98 * critic_t(torch.cat([s2, actor_t(s2)], 1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    follow(actor, actor_t)
    follow(critic, critic_t)
print("critic loss", round(critic_loss.item(), 4))
