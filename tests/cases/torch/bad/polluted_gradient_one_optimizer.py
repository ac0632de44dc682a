import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(308)
actor, critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)), nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
target = copy.deepcopy(critic)
for step in range(60):
    s, a, s2 = torch.randn(40, 3), torch.rand(40, 1), torch.randn(40, 3)
    r = -(a - s[:, :1]).abs()
    with torch.no_grad():
        y = r + 0.95 * target(torch.cat([s2, actor(s2)], 1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    optimizer.zero_grad()
    (critic_loss + actor_loss).backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(critic.parameters(), target.parameters()):
            t.lerp_(p, 0.01)
print("actor loss", round(actor_loss.item(), 4))
