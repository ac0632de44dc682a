import copy

import torch
import torch.nn.functional as F
from td3_parts import Actor, TwinQ, clip_action, soft_update

torch.manual_seed(4)
actor, critic = Actor(4, 2), TwinQ(4, 2)
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(1, 41):
    s = torch.randn(48, 4)
    a = torch.rand(48, 2) * 2 - 1
    r = -(s[:, :2] + a).pow(2).sum(1, keepdim=True)
    s2 = s + 0.1 * torch.randn_like(s)
    with torch.no_grad():
        noise = (torch.randn_like(a) * 0.2).clamp(-0.5, 0.5)
        a2 = clip_action(actor_target(s2) + noise)
        q1, q2 = critic_target(s2, a2)
        y = r + 0.95 * torch.min(q1, q2)
    q1, q2 = critic(s, a)
    critic_loss = F.mse_loss(q1, y) + F.mse_loss(q2, y)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    if step % 2 == 0:
        actor_loss = -critic(s, clip_action(actor(s)))[0].mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        soft_update(actor, actor_target, 0.01)
        soft_update(critic, critic_target, 0.01)
print("critic", round(critic_loss.item(), 4), "actor", round(actor_loss.item(), 4))
