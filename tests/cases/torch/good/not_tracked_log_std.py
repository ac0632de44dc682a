import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(220)


class GaussianPolicy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, n_act))
        self.log_std = nn.Parameter(torch.zeros(n_act))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


policy = GaussianPolicy(3, 2)
opt = torch.optim.Adam(policy.parameters(), lr=5e-3)

for it in range(50):
    obs = torch.randn(128, 3)
    dist = policy(obs)
    act = dist.sample()
    reward = -((act - obs[:, :2]) ** 2).sum(-1)
    adv = (reward - reward.mean()) / (reward.std() + 1e-8)
    loss = -(dist.log_prob(act).sum(-1) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 0:
        print("it", it, "reward", round(reward.mean().item(), 3), "std", policy.log_std.exp().tolist())
