import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(32)
N_OBS, N_ACT, Z = 6, 3, 8


class ICM(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(N_OBS, 24), nn.ELU(), nn.Linear(24, Z))
        self.inverse = nn.Linear(2 * Z, N_ACT)
        self.forward_model = nn.Linear(Z + N_ACT, Z)

    def losses(self, s, s2, a):
        z, z2 = self.phi(s), self.phi(s2)
        z, z2 = z.detach(), z2.detach()
        onehot = F.one_hot(a, N_ACT).float()
        inv = F.cross_entropy(self.inverse(torch.cat([z, z2], 1)), a)
        pred = self.forward_model(torch.cat([z.detach(), onehot], 1))
        fwd = 0.5 * (pred - z2.detach()).pow(2).sum(1)
        return inv, fwd


policy = nn.Sequential(nn.Linear(N_OBS, 24), nn.Tanh(), nn.Linear(24, N_ACT))
icm = ICM()
opt = torch.optim.Adam(list(policy.parameters()) + list(icm.parameters()), lr=2e-3)
for it in range(50):
    s = torch.randn(64, N_OBS)
    dist = Categorical(logits=policy(s))
    a = dist.sample()
    s2 = s + 0.5 * F.one_hot(a, N_OBS).float()
    inv, fwd = icm.losses(s, s2, a)
    curiosity = fwd.detach()
    pg = -(dist.log_prob(a) * (curiosity - curiosity.mean())).mean()
    loss = 0.1 * pg + 0.8 * inv + 0.2 * fwd.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("inverse", round(inv.item(), 4), "forward", round(fwd.mean().item(), 4))
