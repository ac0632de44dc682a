import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(112)
policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.zeros(1))
disc = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
p_opt = torch.optim.Adam([*policy.parameters(), log_std], lr=2e-3)
d_opt = torch.optim.Adam(disc.parameters(), lr=2e-3)


def penalty(expert, agent):
    eps = torch.rand(len(expert), 1)
    mix = (eps * expert + (1 - eps) * agent).requires_grad_(True)
    out = disc(mix)
    grad = torch.autograd.grad(out, mix, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for it in range(30):
    s = torch.randn(64, 3)
    dist = Normal(policy(s), log_std.exp())
    a = dist.sample()
    agent_sa = torch.cat([s, a], 1)
    s_e = torch.randn(64, 3)
    expert_sa = torch.cat([s_e, s_e[:, :1] * 0.5], 1)
    logits_e, logits_a = disc(expert_sa), disc(agent_sa)
    d_loss = F.binary_cross_entropy_with_logits(logits_e, torch.ones_like(logits_e))
    d_loss = d_loss + F.binary_cross_entropy_with_logits(logits_a, torch.zeros_like(logits_a))
    d_loss = d_loss + 1.0 * penalty(expert_sa, agent_sa)
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    with torch.no_grad():
        r = -F.logsigmoid(-disc(agent_sa))
        adv = (r - r.mean()) / (r.std() + 1e-8)
    p_loss = -(dist.log_prob(a) * adv).mean()
    p_opt.zero_grad()
    p_loss.backward()
    p_opt.step()
print("disc", round(d_loss.item(), 4))
