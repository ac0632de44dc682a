import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(109)
policy = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 3))
phi = nn.Sequential(nn.Linear(5, 24), nn.ELU(), nn.Linear(24, 6))
inverse = nn.Linear(12, 3)
forward_model = nn.Linear(9, 6)
opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
opt_icm = torch.optim.Adam([*phi.parameters(), *inverse.parameters(), *forward_model.parameters()], lr=2e-3)


def env_step(s, a):
    nxt = s.clone()
    nxt[a] += 1.0
    return 0.9 * nxt


for episode in range(10):
    s = torch.zeros(5)
    S, S2, A, LP, R = [], [], [], [], []
    for _ in range(12):
        d = Categorical(logits=policy(s))
        a = d.sample()
        s2 = env_step(s, a.item())
        with torch.no_grad():
            pred = forward_model(torch.cat([phi(s), F.one_hot(a, 3).float()]))
            bonus = (pred - phi(s2)).pow(2).mean().item()
        S.append(s), S2.append(s2), A.append(a), LP.append(d.log_prob(a)), R.append(bonus)
        s = s2
    R = torch.tensor(R)
    loss = -(torch.stack(LP) * (R - R.mean()) / (R.std() + 1e-8)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    S, S2, A = torch.stack(S), torch.stack(S2), torch.stack(A)
    z, z2 = phi(S), phi(S2)
    inv_loss = F.cross_entropy(inverse(torch.cat([z, z2], 1)), A)
    fwd_loss = F.mse_loss(forward_model(torch.cat([z.detach(), F.one_hot(A, 3).float()], 1)), z2.detach())
    opt_icm.zero_grad()
    (inv_loss + fwd_loss).backward()
    opt_icm.step()
print("bonus", round(R.mean().item(), 4))
