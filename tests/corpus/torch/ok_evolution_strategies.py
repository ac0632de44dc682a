import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(132)
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.Adam(policy.parameters(), lr=0.05)
SIGMA = 0.1


@torch.no_grad()
def score(theta):
    vector_to_parameters(theta, policy.parameters())
    obs = torch.randn(128, 4)
    return (policy(obs).argmax(1) == (obs[:, 0] > 0).long()).float().mean().item()


for gen in range(15):
    theta = parameters_to_vector(policy.parameters()).detach().clone()
    eps = torch.randn(12, theta.numel())
    up = torch.tensor([score(theta + SIGMA * e) for e in eps])
    down = torch.tensor([score(theta - SIGMA * e) for e in eps])
    g = -((up - down)[:, None] * eps).mean(0) / (2 * SIGMA)
    vector_to_parameters(theta, policy.parameters())
    k = 0
    for p in policy.parameters():
        p.grad = g[k : k + p.numel()].view_as(p).clone()
        k += p.numel()
    opt.step()
print("fitness", round(up.mean().item(), 3))
