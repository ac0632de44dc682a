import torch
import torch.nn as nn
from torch.distributions import Independent, Normal

torch.manual_seed(228)


class Actor(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.fc1 = nn.Linear(n_obs, 32)
        self.mu = nn.Linear(32, n_act)
        self.log_std = nn.Parameter(-0.5 * torch.ones(n_act), requires_grad=True)

    def forward(self, obs):
        mu = self.mu(torch.tanh(self.fc1(obs)))
        return Independent(Normal(mu, self.log_std.exp()), 1)


actor = Actor(3, 1)
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)
for it in range(40):
    obs = torch.randn(128, 3)
    with torch.no_grad():
        old = actor(obs)
        act = old.sample()
        old_logp = old.log_prob(act)
    reward = -((act - obs[:, :1]) ** 2).squeeze(-1)
    adv = (reward - reward.mean()) / (reward.std() + 1e-8)
    for _ in range(2):
        ratio = torch.exp(actor(obs).log_prob(act) - old_logp)
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if it % 10 == 0:
        print("it", it, "reward", round(reward.mean().item(), 3), "std", round(actor.log_std.exp().item(), 4))
