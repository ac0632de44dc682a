import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(737)
actor, critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1)), nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
target = copy.deepcopy(critic)
for step in range(60):
    s, a, s2 = torch.randn(40, 3), torch.rand(40, 1), torch.randn(40, 3)
    r = -(a - s[:, :1]).abs()
    with torch.no_grad():
        y = r + 0.95 * target(torch.cat([s2, actor(s2)], 1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_opt.zero_grad()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_loss.backward()
    actor_opt.step()
    with torch.no_grad():
        for p, t in zip(critic.parameters(), target.parameters()):
            t.lerp_(p, 0.01)
print("actor loss", round(actor_loss.item(), 4))
