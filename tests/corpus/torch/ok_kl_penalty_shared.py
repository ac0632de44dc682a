import torch
import torch.nn as nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(123)


class GaussianAC(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.mu = nn.Linear(32, 2)
        self.log_std = nn.Parameter(torch.full((2,), -0.5))
        self.value = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return Normal(self.mu(h), self.log_std.exp()), self.value(h).squeeze(-1)


net = GaussianAC()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
beta = 0.5
for it in range(15):
    obs = torch.randn(96, 3)
    old_dist, _ = net(obs)
    old_dist = Normal(old_dist.loc.detach(), old_dist.scale.detach())
    act = old_dist.sample()
    old_logp = old_dist.log_prob(act).sum(-1)
    ret = -((act - obs[:, :2]) ** 2).sum(-1)
    for _ in range(3):
        dist, value = net(obs)
        adv = ret - value.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        ratio = (dist.log_prob(act).sum(-1) - old_logp).exp()
        kl = kl_divergence(old_dist, dist).sum(-1).mean()
        loss = -(ratio * adv).mean() + beta * kl + 0.5 * (ret - value).pow(2).mean() - 0.01 * dist.entropy().sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    beta *= 2.0 if kl.item() > 0.02 else 0.7
print("return", round(ret.mean().item(), 3), "beta", round(beta, 4))
