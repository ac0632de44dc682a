import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(127)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
critic_t = copy.deepcopy(critic)
a_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
c_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for it in range(50):
    s, s2, a = torch.randn(48, 3), torch.randn(48, 3), torch.rand(48, 1) * 2 - 1
    r = -((a - s[:, :1]) ** 2)
    with torch.no_grad():
        y = r + 0.9 * critic_t(torch.cat([s2, actor(s2)], 1))
    c_loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    c_opt.zero_grad()
    c_loss.backward()
    c_opt.step()

    action = actor(s)
    leaf = action.detach().requires_grad_(True)
    q = critic(torch.cat([s, leaf], 1)).sum()
    dqda = torch.autograd.grad(q, leaf)[0].clamp(-1, 1)
    a_opt.zero_grad()
    action.backward(gradient=-dqda / len(s))
    a_opt.step()
    for p, tp in zip(critic.parameters(), critic_t.parameters()):
        tp.data.lerp_(p.data, 0.02)
print("critic", round(c_loss.item(), 4))
