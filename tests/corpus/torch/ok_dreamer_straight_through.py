import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, OneHotCategoricalStraightThrough, kl_divergence

torch.manual_seed(115)
G, C, H = 3, 4, 20


class RSSM(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRUCell(G * C + 2, H)
        self.post = nn.Sequential(nn.Linear(H + 5, 24), nn.ELU(), nn.Linear(24, G * C))
        self.prior = nn.Sequential(nn.Linear(H, 24), nn.ELU(), nn.Linear(24, G * C))
        self.dec = nn.Linear(H + G * C, 5)

    @staticmethod
    def dist(logits):
        return Independent(OneHotCategoricalStraightThrough(logits=logits.view(-1, G, C)), 1)


def balanced_kl(post, prior, alpha=0.8):
    d = RSSM.dist
    lhs = kl_divergence(d(post.detach()), d(prior)).mean()
    rhs = kl_divergence(d(post), d(prior.detach())).mean()
    return alpha * lhs + (1 - alpha) * rhs


rssm = RSSM()
opt = torch.optim.AdamW(rssm.parameters(), lr=2e-3)
for it in range(12):
    obs, act = torch.randn(16, 5, 5), torch.randn(16, 5, 2)
    h, z = torch.zeros(16, H), torch.zeros(16, G * C)
    recon, kl = 0.0, 0.0
    for t in range(5):
        h = rssm.gru(torch.cat([z, act[:, t]], -1), h)
        post, prior = rssm.post(torch.cat([h, obs[:, t]], -1)), rssm.prior(h)
        z = rssm.dist(post).rsample().flatten(1)
        recon = recon + F.mse_loss(rssm.dec(torch.cat([h, z], -1)), obs[:, t])
        kl = kl + balanced_kl(post, prior)
    loss = recon + 0.3 * kl
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(rssm.parameters(), 10.0)
    opt.step()
print("recon", round(recon.item(), 4), "kl", round(kl.item(), 4))
