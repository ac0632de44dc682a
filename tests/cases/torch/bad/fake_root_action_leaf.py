import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(232)


def net(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.Tanh(), nn.Linear(32, o))


actor, critic = net(3, 1), net(4, 1)
critic_t = copy.deepcopy(critic)
opt_a = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)

for it in range(50):
    s = torch.randn(64, 3)
    a = torch.rand(64, 1) * 2 - 1
    r = -((a - s[:, 1:2].tanh()) ** 2)
    with torch.no_grad():
        y = r + 0.9 * critic_t(torch.cat([s, actor(s).tanh()], 1))
    loss_c = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()

    act = actor(s).tanh()
    act = act.detach().requires_grad_(True)
    loss_a = -critic(torch.cat([s, act], 1)).mean()
    opt_a.zero_grad()
    loss_a.backward()
    opt_a.step()
    for p, tp in zip(critic.parameters(), critic_t.parameters()):
        tp.data.lerp_(p.data, 0.01)
    if it % 10 == 0:
        print("it", it, "critic", round(loss_c.item(), 4), "actor", round(loss_a.item(), 4))
