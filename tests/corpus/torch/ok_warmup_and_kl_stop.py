import torch
import torch.nn as nn
from torch.distributions import Categorical
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(120)
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
sched = LambdaLR(opt, lambda k: min(1.0, k / 5))
skipped = 0
for it in range(15):
    obs = torch.randn(96, 4)
    with torch.no_grad():
        d = Categorical(logits=net(obs))
        act = d.sample()
        old = d.log_prob(act)
    r = (act == obs[:, :3].argmax(1)).float()
    adv = (r - r.mean()) / (r.std() + 1e-8)
    for epoch in range(6):
        logp = Categorical(logits=net(obs)).log_prob(act)
        kl = (old - logp).mean().item()
        if kl > 0.01:
            skipped += 1
            break
        ratio = (logp - old).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
print("skipped", skipped, "lr", sched.get_last_lr()[0])
