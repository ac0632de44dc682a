import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(237)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, o))


actor, critic = mlp(3, 1), mlp(4, 1)
critic_target = copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def actor_objective(s):
    return -critic(torch.cat([s, torch.tanh(actor(s))], 1)).mean()


for it in range(40):
    s = torch.randn(64, 3)
    a = torch.rand(64, 1) * 2 - 1
    r = -((a + s[:, :1]) ** 2)
    with torch.no_grad():
        y = r + 0.9 * critic_target(torch.cat([s, torch.tanh(actor(s))], 1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    actor_loss = actor_objective(s)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_opt.zero_grad()
    actor_loss = actor_objective(s)
    actor_loss.backward()
    actor_opt.step()
    for p, tp in zip(critic.parameters(), critic_target.parameters()):
        tp.data.lerp_(p.data, 0.01)
    if it % 10 == 0:
        print("it", it, "critic", round(critic_loss.item(), 4), "actor", round(actor_loss.item(), 4))
