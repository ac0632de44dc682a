import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(11)


class BigQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        h = checkpoint(self.encoder, x, use_reentrant=True)
        return self.head(h)


net, target = BigQ(), BigQ()
target.load_state_dict(net.state_dict())
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(40):
    s, s2 = torch.randn(32, 8), torch.randn(32, 8)
    a = torch.randint(4, (32, 1))
    r = s.gather(1, a)
    with torch.no_grad():
        y = r + 0.9 * target(s2).max(1, keepdim=True).values
    loss = F.smooth_l1_loss(net(s).gather(1, a), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        target.load_state_dict(net.state_dict())
print("loss", round(loss.item(), 4))
