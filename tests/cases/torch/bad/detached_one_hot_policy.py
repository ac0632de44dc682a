import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.pi = nn.Linear(32, 3)
        self.v = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return F.softmax(self.pi(h), -1), self.v(h).squeeze(-1)


net = Policy()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for it in range(30):
    s, r = torch.randn(32, 4), torch.randn(32)
    policy, v = net(s)
    a = torch.multinomial(policy, 1).squeeze(1)
    one_hot = F.one_hot(a, 3).float()
    picked = (one_hot * policy.detach()).sum(-1)
    adv = (r - v).detach()
    pg = -(torch.log(picked + 1e-8) * adv).mean()
    loss = pg + 0.5 * (r - v).pow(2).mean() - 0.01 * -(policy * torch.log(policy + 1e-8)).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
