import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(114)


class VQ(nn.Module):
    def __init__(self, k=8, d=4):
        super().__init__()
        self.codebook = nn.Embedding(k, d)
        self.codebook.weight.data.uniform_(-1, 1)

    def forward(self, z):
        dist = torch.cdist(z.detach(), self.codebook.weight.detach())
        idx = dist.argmin(1)
        e = self.codebook(idx)
        loss = F.mse_loss(e, z.detach()) + 0.25 * F.mse_loss(z, e.detach())
        return z + (e - z).detach(), loss, idx


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 4))
        self.vq = VQ()
        self.dyn = nn.Sequential(nn.Linear(4 + 2, 24), nn.ReLU(), nn.Linear(24, 4))
        self.dec = nn.Linear(4, 6)


wm = WorldModel()
opt = torch.optim.Adam(wm.parameters(), lr=3e-3)
for it in range(40):
    s = torch.randn(64, 6)
    a = torch.randn(64, 2)
    s2 = s + 0.3 * torch.cat([a, a, a], 1)
    z, vq_loss, idx = wm.vq(wm.enc(s))
    pred = wm.dec(z + wm.dyn(torch.cat([z, a], 1)))
    loss = F.mse_loss(pred, s2) + F.mse_loss(wm.dec(z), s) + vq_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", round(loss.item(), 4), "codes", idx.unique().numel())
