import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(217)


def build():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))


online, target = build(), build()
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=1e-3)


def td_loss(s, a, r, s2, done):
    with torch.no_grad():
        y = r + 0.95 * (1 - done) * target(s2).max(dim=1).values
    q = online(s).gather(1, a).squeeze(1)
    return F.smooth_l1_loss(q, y)


for step in range(60):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = torch.randint(2, (32, 1))
    r = (a.squeeze(1) == (s[:, 0] > 0)).float()
    done = torch.zeros(32)
    loss = td_loss(s, a, r, s2, done)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        target.load_state_dict(online.state_dict())
        print("step", step + 1, "loss", round(loss.item(), 4))
