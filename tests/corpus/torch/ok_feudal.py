import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(130)


class Feudal(nn.Module):
    def __init__(self):
        super().__init__()
        self.percept = nn.Sequential(nn.Linear(6, 24), nn.Tanh())
        self.manager = nn.GRUCell(24, 8)
        self.worker = nn.Linear(24, 3 * 8)
        self.v_m, self.v_w = nn.Linear(24, 1), nn.Linear(24, 1)

    def forward(self, x, hm):
        z = self.percept(x)
        hm = self.manager(z, hm)
        goal = F.normalize(hm, dim=-1)
        u = self.worker(z).view(-1, 3, 8)
        logits = torch.einsum("bak,bk->ba", u, goal.detach())
        return Categorical(logits=logits), goal, hm, self.v_m(z).squeeze(-1), self.v_w(z).squeeze(-1)


net = Feudal()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
direction = torch.randn(6, 8)
hm = torch.zeros(32, 8)
for it in range(30):
    obs = torch.randn(32, 6)
    d, goal, hm, vm, vw = net(obs, hm.detach())
    a = d.sample()
    r = (a == obs[:, :3].argmax(1)).float()
    moved = (obs + F.one_hot(a, 6).float()) @ direction
    cos = F.cosine_similarity(moved.detach(), goal, dim=-1)
    m_loss = -((r - vm).detach() * cos).mean() + 0.5 * (r - vm).pow(2).mean()
    intrinsic = r + 0.1 * cos.detach()
    w_loss = -((intrinsic - vw).detach() * d.log_prob(a)).mean() + 0.5 * (intrinsic - vw).pow(2).mean()
    loss = m_loss + w_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reward", round(r.mean().item(), 3))
