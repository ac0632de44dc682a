"""Soft actor-critic: the critic is stepped between the forward and the backward pass of the actor."""

import torch
from torch import nn

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 64), nn.ReLU())
        self.mean = nn.Linear(64, 1)
        self.log_std = nn.Linear(64, 1)

    def forward(self, state):
        hidden = self.trunk(state)
        policy = torch.distributions.Normal(self.mean(hidden), self.log_std(hidden).clamp(-5, 2).exp())
        action = policy.rsample()
        return torch.tanh(action), policy.log_prob(action).sum(dim=1, keepdim=True)


actor = Actor()
critic = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
log_alpha = torch.zeros(1, requires_grad=True)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-4)
alpha_opt = torch.optim.Adam([log_alpha], lr=3e-4)

for _ in range(200):
    state, target = torch.randn(64, 3), torch.randn(64, 1)
    action, log_prob = actor(state)
    value = critic(torch.cat([state, action], dim=1))
    alpha = log_alpha.exp().detach()

    actor_loss = (alpha * log_prob - value).mean()
    critic_loss = (critic(torch.cat([state, action.detach()], dim=1)) - target).pow(2).mean()
    alpha_loss = -(log_alpha * (log_prob.detach() - 1)).mean()

    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()
