import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(211)
np.random.seed(211)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_out))


actor, critic = mlp(3, 1), mlp(4, 1)
critic_target = copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def choose(s):
    a = actor(s)
    a = torch.clamp(a, -1.0, 1.0)
    return a


for it in range(50):
    s = torch.randn(64, 3)
    with torch.no_grad():
        a = (choose(s) + 0.3 * torch.randn(64, 1)).clamp(-1, 1)
        s2 = s + 0.1 * a
        r = -(s2 ** 2).sum(1, keepdim=True)
        y = r + 0.9 * critic_target(torch.cat([s2, choose(s2)], 1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    actor_loss = -critic(torch.cat([s, choose(s)], 1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    with torch.no_grad():
        for p, tp in zip(critic.parameters(), critic_target.parameters()):
            tp.lerp_(p, 0.01)
    if it % 10 == 0:
        print("it", it, "critic", round(critic_loss.item(), 3), "actor", round(actor_loss.item(), 3))
