"""Soft actor-critic: the critic learns first, then says what it thinks of the actions."""

import torch
from torch import nn

torch.manual_seed(1)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.mu, self.log_sigma = nn.Linear(48, 2), nn.Linear(48, 2)

    def forward(self, obs):
        features = self.body(obs)
        normal = torch.distributions.Normal(self.mu(features), self.log_sigma(features).clamp(-5, 2).exp())
        raw = normal.rsample()
        act = torch.tanh(raw)
        logp = (normal.log_prob(raw) - torch.log(1 - act.pow(2) + 1e-6)).sum(-1, keepdim=True)
        return act, logp


policy = Policy()
q_function = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
policy_optim = torch.optim.Adam(policy.parameters(), lr=3e-4)
q_optim = torch.optim.Adam(q_function.parameters(), lr=3e-4)
alpha = 0.2

for _ in range(40):
    obs, reward = torch.randn(32, 4), torch.randn(32, 1)
    act, logp = policy(obs)

    q_loss = nn.functional.mse_loss(q_function(torch.cat([obs, act.detach()], dim=-1)), reward)
    q_optim.zero_grad()
    q_loss.backward()
    q_optim.step()

    q_new = q_function(torch.cat([obs, act], dim=-1))
    policy_loss = (alpha * logp - q_new).mean()
    policy_optim.zero_grad()
    policy_loss.backward()
    policy_optim.step()
