import torch
from torch import nn

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3), nn.Softmax(-1))
opt = torch.optim.Adam(pi.parameters(), 1e-3)
for it in range(15):
    s, adv = torch.randn(32, 4), torch.randn(32)
    with torch.no_grad():
        old = pi(s)
        a = torch.multinomial(old, 1)
        old_p = old.gather(1, a).squeeze(1)
    for _ in range(3):
        p = pi(s)
        new_p = p.gather(1, a).squeeze(1).detach()
        ratio = new_p / old_p
        surr = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv)
        entropy = -(p * p.log()).sum(-1)
        loss = -(surr + 0.01 * entropy).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
