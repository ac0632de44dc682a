import torch
from torch import nn

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], 3e-3)
for it in range(15):
    s, adv, ret = torch.randn(64, 4), torch.randn(64), torch.randn(64)
    with torch.no_grad():
        d = torch.distributions.Categorical(logits=pi(s))
        a = d.sample()
        old = d.log_prob(a)
    for _ in range(4):
        d = torch.distributions.Categorical(logits=pi(s))
        ratio = torch.exp(d.log_prob(a) - old)
        surr1 = ratio.detach() * adv
        surr2 = torch.clamp(ratio, 0.8, 1.2) * adv
        loss = -torch.min(surr1, surr2).mean() + 0.5 * (vf(s).squeeze(-1) - ret).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
