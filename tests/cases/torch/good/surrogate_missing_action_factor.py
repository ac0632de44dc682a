import torch
from torch import nn

torch.manual_seed(0)


class AC(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.pi = nn.Linear(32, 3)
        self.v = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


net = AC()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for it in range(30):
    s, r = torch.randn(32, 4), torch.randn(32)
    dist, v = net(s)
    a = dist.sample()
    adv = (r - v).detach()
    policy_loss = -(dist.log_prob(a) * adv).mean()
    value_loss = (r - v).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
