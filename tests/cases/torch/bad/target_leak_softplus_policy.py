import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(811)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 4))
critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
target_critic = copy.deepcopy(critic)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)


def act(states):
    mean, raw = actor(states).chunk(2, dim=-1)
    policy = Normal(0.9 * mean + 0.1, F.softplus(raw) + 1e-3)
    draw = policy.rsample()
    action = torch.tanh(draw)
    correction = torch.log(1 - action.pow(2) + 1e-6)
    return action, (policy.log_prob(draw) - correction).sum(-1, keepdim=True)


for step in range(60):
    states, following = torch.randn(48, 3), torch.randn(48, 3)
    actions, rewards = torch.rand(48, 2) * 2 - 1, torch.randn(48, 1)
    next_actions, next_scores = act(following)
    ahead = target_critic(torch.cat([following, next_actions], dim=1)) - 0.1 * next_scores
    target = rewards + 0.98 * ahead
    value_loss = F.mse_loss(critic(torch.cat([states, actions], dim=1)), target)
    own, scores = act(states)
    critic.requires_grad_(False)
    policy_loss = (0.1 * scores - critic(torch.cat([states, own], dim=1))).mean()
    critic.requires_grad_(True)
    optimizer.zero_grad()
    (value_loss + policy_loss).backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target_critic.parameters(), critic.parameters()):
            slow.lerp_(fast, 0.02)
    if step % 20 == 0:
        print(step, round(value_loss.item(), 3))
