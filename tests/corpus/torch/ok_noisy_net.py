import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(104)


class NoisyLinear(nn.Module):
    def __init__(self, i, o, sigma0=0.5):
        super().__init__()
        self.mu_w = nn.Parameter(torch.empty(o, i).uniform_(-1 / math.sqrt(i), 1 / math.sqrt(i)))
        self.sigma_w = nn.Parameter(torch.full((o, i), sigma0 / math.sqrt(i)))
        self.mu_b = nn.Parameter(torch.empty(o).uniform_(-1 / math.sqrt(i), 1 / math.sqrt(i)))
        self.sigma_b = nn.Parameter(torch.full((o,), sigma0 / math.sqrt(i)))
        self.register_buffer("eps_i", torch.zeros(i))
        self.register_buffer("eps_o", torch.zeros(o))

    def reset_noise(self):
        for e in (self.eps_i, self.eps_o):
            e.normal_()
            e.copy_(e.sign() * e.abs().sqrt())

    def forward(self, x):
        w = self.mu_w + self.sigma_w * torch.outer(self.eps_o, self.eps_i)
        return F.linear(x, w, self.mu_b + self.sigma_b * self.eps_o)


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = NoisyLinear(4, 32), NoisyLinear(32, 3)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x)))

    def reset_noise(self):
        self.l1.reset_noise()
        self.l2.reset_noise()


q = Q()
q_t = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(60):
    q.reset_noise()
    q_t.reset_noise()
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = q(s).max(1, keepdim=True)[1]
    r = (a == s[:, :3].argmax(1, keepdim=True)).float()
    with torch.no_grad():
        y = r + 0.9 * q_t(s2).amax(1, keepdim=True)
    loss = (q(s).gather(1, a) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 0:
        q_t.load_state_dict(q.state_dict())
print("loss", round(loss.item(), 4))
